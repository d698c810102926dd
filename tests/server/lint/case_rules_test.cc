#include "server/lint/case_rules.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

operators::Case interpreted(const std::string& id, std::int64_t n) {
  operators::Case item;
  item.id = id;
  item.interpreter = true;
  item.dtype = "float32";
  item.axes = {{"n", n}};
  item.distribution = "normal";
  return item;
}

operators::Operator demo(std::size_t public_cases) {
  operators::Operator op;
  op.name = "demo";
  op.dialect = "triton";
  op.directory = "/suite/standard/demo";
  for (std::size_t i = 0; i < public_cases; ++i) {
    const auto n = static_cast<std::int64_t>(i) + 1;
    op.cases.push_back(interpreted("public_" + std::to_string(n), n));
  }
  op.cases.push_back(interpreted("hidden_small", 100));
  op.cases.back().hidden = true;
  return op;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an operator needs four public cases that the interpreter runs") {
  CHECK(case_failures(demo(kMinPublicInterpreterCases)).empty());
  const auto lines = case_failures(demo(kMinPublicInterpreterCases - 1));
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "demo: /suite/standard/demo/spec.toml: [[cases]]"));
  CHECK(has(lines[0], "3 (public_1, public_2, public_3); at least 4 are needed"));

  operators::Operator larger = demo(kMinPublicInterpreterCases);
  larger.cases.front().interpreter = false;
  CHECK(case_failures(larger).size() == 1);
  larger.dialect = "gluon";  // the interpreter does not run it
  CHECK(case_failures(larger).empty());
  operators::Operator imported = demo(1);
  imported.imported = true;
  CHECK(case_failures(imported).empty());
}

TEST_CASE("only an imported operator may lack an oracle") {
  operators::Operator op = demo(kMinPublicInterpreterCases);
  op.baseline = Baseline::torch_eager;
  const auto lines = case_failures(op);
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "spec.toml: key 'baseline' is 'torch_eager', which is only for"));
  op.imported = true;
  CHECK(case_failures(op).empty());
}

TEST_CASE("no case has the dtype, the axes and the distribution of another case") {
  operators::Operator op = demo(kMinPublicInterpreterCases);
  operators::Case& hidden = op.cases.back();
  hidden.line = 70;
  hidden.axes = op.cases.front().axes;
  const auto lines = case_failures(op);
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "spec.toml:70: [[cases]] 'hidden_small': "));
  CHECK(has(lines[0], "those of case 'public_1'"));
  hidden.distribution = "special";
  CHECK(case_failures(op).empty());
  hidden.distribution = "normal";
  hidden.dtype = "float16";
  CHECK(case_failures(op).empty());
}

TEST_CASE("the interpreter's time is measured again only while it is above the limit") {
  std::vector<std::int64_t> next;
  int calls = 0;
  const auto least = [&](std::int64_t first, std::vector<std::int64_t> more) {
    next = std::move(more);
    calls = 0;
    return least_interpreter_ms(first, [&]() -> std::optional<std::int64_t> {
      const std::int64_t ms = next.at(static_cast<std::size_t>(calls++));
      return ms < 0 ? std::nullopt : std::optional(ms);
    });
  };
  CHECK(least(kInterpreterCasesMs, {}) == kInterpreterCasesMs);
  CHECK(calls == 0);
  CHECK(least(kInterpreterCasesMs + 1, {3'900}) == 3'900);
  CHECK(calls == 1);
  CHECK(least(9'000, {7'000, 8'000}) == 7'000);
  CHECK(calls == kInterpreterMeasurements - 1);
  CHECK(least(9'000, {-1, -1}) == 9'000);  // a measurement that failed says nothing
}

TEST_CASE("the interpreter's time for the oracle has a limit") {
  CHECK(interpreter_time_failure("demo", kInterpreterCasesMs).empty());
  const std::string slow = interpreter_time_failure("demo", 37'000);
  CHECK(slow ==
        "demo: for the oracle, the interpreter takes 37.0 s of processor time on all cases with "
        "interpreter = true; at most 4.0 s are allowed: make these cases smaller");
}
