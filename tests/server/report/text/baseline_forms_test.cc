// Tests that every form of a report names the baseline of Perf, and that reports on imported
// operators also count files of the benchmark.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/json.h"
#include "server/report/text/forms.h"
#include "tests/catch.h"
#include "tests/server/bench/scratch_folder.h"

using namespace assay;
using namespace assay::report;

namespace {

/// Returns an attempt that is three times as fast as PyTorch eager.
tools::OperatorScore timed_over_eager(const std::string& name) {
  sandbox::CaseRecord record;
  record.id = "large";
  record.outcome = sandbox::Outcome::pass;
  record.latency.emplace().median_ns = 1'000;
  record.baseline_latency.emplace().median_ns = 3'000;
  record.pytorch_ns = 3'000;
  sandbox::Verdict verdict;
  verdict.operator_name = name;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.stage = sandbox::Stage::done;
  verdict.provenance.device = "cuda:0";
  verdict.baseline = Baseline::torch_eager;
  verdict.perf = 3;
  verdict.cases = {record};
  tools::OperatorScore score;
  score.operator_name = name;
  score.split = "standard";
  score.submitted = true;
  score.job = "job_" + name;
  score.verdict = verdict;
  return score;
}

/// Returns the rest of the line in which `word` occurs first, beginning with `word`.
std::string part_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

/// Writes an operator that was imported from this file of a benchmark.
void write_imported(const std::filesystem::path& suite, const std::string& name,
                    const std::string& file) {
  const std::filesystem::path folder = suite / "standard" / name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "reference.py")
      << "def inputs(case, rng): ...\ndef reference(x): return x\n"
         "def cost(case): ...\n";
  std::ofstream spec(folder / "spec.toml");
  for (const std::string& line :
       {"name = \"" + name + "\"", std::string("split = \"standard\""),
        std::string("family = \"fused\""), std::string("dialect = \"triton\""),
        std::string("difficulty = 3"), std::string("summary = \"s\""),
        std::string("description = \"d\""), "entry = \"call_" + name + "\"",
        "signature = \"call_" + name + "(x: Tensor) -> Tensor\"", std::string("imported = true"),
        std::string("baseline = \"torch_eager\""), "benchmark_file = \"" + file + "\"",
        std::string("[[arguments]]\nname = \"x\"\ntype = \"tensor\"\ndtype = \"float32\"\n"
                    "shape = [\"n\"]\nrole = \"input\"\ndescription = \"x\""),
        std::string("[[outputs]]\nname = \"y\"\ndtype = \"float32\"\nshape = [\"n\"]\n"
                    "max_abs_error = 0.01"),
        std::string("[[cases]]\nid = \"large\"\nvisibility = \"public\"\ninterpreter = true\n"
                    "dtype = \"float32\"\naxes = { n = 8 }\ndistribution = \"normal\"")})
    spec << line << "\n";
}

}  // namespace

TEST_CASE("a report on imported operators also counts files of the benchmark") {
  const ScratchFolder folder;
  write_imported(folder.path, "a", "one.py");
  write_imported(folder.path, "a_2", "one.py");
  write_imported(folder.path, "b", "two.py");
  const auto catalog = operators::Catalog::load(folder.path);
  INFO((catalog ? "" : catalog.error().message));
  REQUIRE(catalog.has_value());
  tools::Scorecard card;
  card.run.handle = "run_files";
  card.run.request = {"mine", "openai:m", tools::Track::one_shot, "all"};
  card.operators = {timed_over_eager("a"), timed_over_eager("a_2"), timed_over_eager("b")};
  card.operators[1].verdict->outcome = sandbox::Outcome::fail;
  card.operators[1].verdict->error_kind = sandbox::ErrorKind::wrong_result;
  const Report report = make_report(card, &*catalog);
  REQUIRE(report.files);
  CHECK(report.files->operators == 2);
  CHECK(report.files->pass_at_1->value == Approx(0.5));
  CHECK(report.files->call_accuracy->value == Approx(1));
  CHECK(report.totals.pass_at_1 == Approx(2.0 / 3));
  const std::string line = part_after(report_as_table(report), "by file");
  CHECK(line.find("execution accuracy 50.0 %") != std::string::npos);
  CHECK(line.find("2 files of the benchmark") != std::string::npos);
  const nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["metrics"]["files"]["operators"] == 2);
  CHECK_FALSE(make_report(card).files);  // without the suite, the files are not known
}

TEST_CASE("a report names the baseline of Perf, and averages no Perf of different baselines") {
  tools::Scorecard card;
  card.run.handle = "run_eager";
  card.run.request = {"mine", "openai:m", tools::Track::one_shot, "all"};
  card.operators = {timed_over_eager("a"), timed_over_eager("b")};
  Report report = make_report(card);
  CHECK(report.totals.perf_at_1.value() == Approx(3));
  CHECK(part_after(report_as_table(report), "perf@1").find("3.000 over PyTorch eager") !=
        std::string::npos);
  nlohmann::json document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["totals"]["baseline"] == "torch_eager");
  CHECK(document["operators"][0]["baseline"] == "torch_eager");
  CHECK(document["operators"][0]["speed_up"].is_null());  // it compares with an oracle
  CHECK(document["operators"][0]["speed_up_pytorch"] == Approx(3));
  CHECK(document["metrics"]["all"]["fast_p_oracle"].is_null());
  CHECK(part_after(report_as_csv(report), ",a,").ends_with(",torch_eager\r"));

  card.operators[1].verdict->baseline = Baseline::oracle;
  report = make_report(card);
  CHECK_FALSE(report.totals.perf_at_1);
  CHECK(report.totals.no_perf_reason == tools::kMixedBaselines);
  CHECK_FALSE(report.by_split.begin()->second.perf_at_1);
  document = nlohmann::json::parse(report_as_json(report));
  CHECK(document["totals"]["baseline"].is_null());
  CHECK(document["totals"]["no_perf_reason"] == tools::kMixedBaselines);
}
