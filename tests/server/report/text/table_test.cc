#include <string>

#include "server/report/text/forms.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

namespace {

metrics::OperatorSamples op(const std::string& name, bool right, std::optional<double> perf) {
  metrics::Sample sample;
  sample.called = true;
  sample.right = right;
  sample.perf = perf;
  return {name, "", "", 0, {sample}};
}

}  // namespace

TEST_CASE(
    "pairs stand side by side, in the order given, with intervals and what each solved operator "
    "cost") {
  ComparisonRow weak =
      comparison_of("one_shot", "openai:m", {op("a", false, {}), op("b", false, {})},
                    {.cost_usd = 0.5, .cost_known = true});
  ComparisonRow strong =
      comparison_of("leader", "openai:m", {op("a", true, 1.2), op("b", true, 0.8)},
                    {.cost_usd = 3, .cost_known = true});
  for (ComparisonRow* row : {&weak, &strong}) row->finished = 2;
  const std::string text = comparison_table({weak, strong});
  CHECK(text.find("one_shot  openai:m  2 of 2    0.0 % (0 to 66)") != std::string::npos);
  CHECK(text.find("1.000 (") != std::string::npos);
  CHECK(text.find("$3.00    $1.5000") != std::string::npos);
  CHECK(text.find("one_shot") < text.find("leader"));
  CHECK(text.find("not ranked") != std::string::npos);
  CHECK(text.find("--resume") == std::string::npos);
}

TEST_CASE("a cost of 0, an unknown cost and no cost are shown differently") {
  const std::vector<metrics::OperatorSamples> suite = {op("a", true, {})};
  const auto cost_of = [&](const char* model, const tools::Usage& usage) {
    const std::string text = comparison_table({comparison_of("one_shot", model, suite, usage)});
    const std::string line = text.substr(text.rfind("one_shot"));
    return line.substr(line.find("–"));  // the columns from perf@1 on
  };
  CHECK(cost_of("local:m", {.cost_known = true}).find("$0.0000  $0.0000") != std::string::npos);
  CHECK(cost_of("openai:m", {}).find("not known  –") != std::string::npos);
  CHECK(cost_of("openai:m", {.cost_usd = 0.5}).find("not known, at least $0.5000  –") !=
        std::string::npos);
  CHECK(cost_of("sim:7 (no model)", {.cost_known = true}).find("none  –") != std::string::npos);
}

TEST_CASE("a time that was not measured is a dash, and an unfinished pair is mentioned") {
  ComparisonRow row = comparison_of("one_shot", "sim:7 (no model)", {op("a", true, {})}, {});
  row.finished = 0;
  const std::string text = comparison_table({row});
  CHECK(text.find("0 of 1    100.0 %") != std::string::npos);
  CHECK(text.find("–       none  –") != std::string::npos);  // Perf@1, cost, cost per solved
  CHECK(text.find("Attempts that are not finished count as failures") != std::string::npos);
}
