#include "tools/json/verdict_json.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/tools/full_verdict.h"

namespace assay::tools {
namespace {

using namespace sandbox;
using nlohmann::json;
using testing::full_verdict;

}  // namespace

TEST_CASE("every field of a verdict survives the way to JSON and back") {
  const json document = verdict_to_json(full_verdict());
  CHECK(document["format"] == "assay.verdict/2");
  const json reparsed = json::parse(document.dump());
  const auto again = verdict_from_json(reparsed);
  REQUIRE(again);
  CHECK(verdict_to_json(*again) == document);
  CHECK(again->artifacts[0].bytes == std::string("\0\x01\xff\n", 4));
  CHECK(std::isinf(*again->cases[0].max_abs_error));
  CHECK(again->cases[0].first_mismatch->actual == -std::numeric_limits<double>::infinity());
  CHECK(again->cases[0].first_mismatch->unstored);
  CHECK(again->diagnostic->line == 14);
  REQUIRE(again->profile);
  CHECK(again->profile->bound == Bound::compute);
  CHECK(again->profile->code[0].lines[0].opcodes[0].opcode == "FADD");
  CHECK(again->profile->counters[0].values.at("sm_pct") == 85);
  CHECK(again->cases[1].hidden);
}

TEST_CASE("an empty verdict survives as well, and its optionals stay empty") {
  const auto again = verdict_from_json(verdict_to_json(Verdict{}));
  REQUIRE(again);
  CHECK_FALSE(again->perf.has_value());
  CHECK_FALSE(again->diagnostic.has_value());
  CHECK_FALSE(again->profile.has_value());
  CHECK(verdict_to_json(*again) == verdict_to_json(Verdict{}));
}

TEST_CASE("hostile text in a verdict is valid, escaped JSON, and is escaped once") {
  Verdict v = full_verdict();
  v.stdout_text = "\x1b]0;owned\x07\xff\xe2\x80\xae";
  v.provenance.seeds = {{"\xff", "\x1b"}};
  const json document = verdict_to_json(v);
  CHECK(document["stdout"] == "\\x1b]0;owned\\x07\\xff\\u{202e}");
  CHECK_NOTHROW(document.dump());
  CHECK(verdict_to_json(*verdict_from_json(document)) == document);
}

TEST_CASE("a verdict that lacks a field, or has a wrong one, is refused with the field's path") {
  const json good = verdict_to_json(full_verdict());
  const auto problem = [](const json& document) {
    const auto result = verdict_from_json(document);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::corrupt);
    return result.error().message;
  };
  for (const auto& [key, value] : good.items()) {
    if (key == "perf" || key == "baseline" || key == "diagnostic" || key == "profile" ||
        key == "sanitizer" || key == "gpu_alone_ms" || key == "launch")
      continue;
    json bad = good;
    bad.erase(key);
    INFO(key);
    if (key == "language")
      CHECK(verdict_from_json(bad)->language == "python");  // older verdicts lack it
    else if (key == "tells_hidden")
      CHECK(verdict_from_json(bad)->tells_hidden);  // older verdicts lack it; true shows less
    else if (key == "artifacts_dropped")
      CHECK(verdict_from_json(bad)->artifacts_dropped.empty());  // older verdicts lack it
    else
      CHECK(problem(bad).find(key) != std::string::npos);
    bad[key] = nullptr;
    problem(bad);
  }
  json older = good;
  older["cases"][0].erase("timeline");
  CHECK(verdict_from_json(older)->cases[0].timeline.empty());
  CHECK(verdict_from_json(good)->cases[0].timeline.size() == 2);
  json bad = good;
  bad["cases"][1]["outcome"] = "maybe";
  CHECK(problem(bad).find("cases[1].outcome") != std::string::npos);
  bad = good;
  bad["kernels"][0]["registers"] = 1.5;
  CHECK(problem(bad).find("kernels[0].registers") != std::string::npos);
  bad = good;
  bad["artifacts"][0]["bytes"] = "***";
  CHECK(problem(bad).find("bytes") != std::string::npos);
  bad = good;
  bad["format"] = "assay.verdict/3";
  CHECK(problem(bad).find("assay.verdict/2") != std::string::npos);
  bad = good;
  bad["hints"] = {7};
  CHECK(problem(bad) == "verdict.hints[0]: expected an object");
  bad["hints"] = {{{"kind", "slowish"}, {"case", ""}, {"text", ""}}};
  CHECK(problem(bad).find("verdict.hints[0].kind") != std::string::npos);
  problem(json::array());
}

TEST_CASE("a verdict of format 1 is read: its hints have no kind, its skipped cases no reason") {
  json older = verdict_to_json(full_verdict());
  older["format"] = "assay.verdict/1";
  older["hints"] = {"would be slow: one program"};
  older["skipped_cases"] = {"large: too large: much", "2 hidden: too large", "7_rows: x",
                            "3 hidden", "0 hidden: x"};
  const auto read = verdict_from_json(older);
  REQUIRE(read);
  CHECK(read->hints == std::vector<Hint>{{HintKind::other, "", "would be slow: one program"}});
  CHECK(read->skipped_cases ==
        std::vector<SkippedCases>{{{"large"}, 0, SkipReason::other, "too large: much"},
                                  {{}, 2, SkipReason::other, "too large"},
                                  {{"7_rows"}, 0, SkipReason::other, "x"},
                                  {{}, 3, SkipReason::other, ""},
                                  {{"0 hidden"}, 0, SkipReason::other, "x"}});
}

TEST_CASE("a job survives the way to JSON and back, its source byte for byte") {
  Job job;
  job.id = "job_1";
  job.kind = JobKind::grade;
  job.operator_name = "vector_add";
  job.operator_dir = "/x";
  job.entry = "vector_add";
  job.source = "s = '\x1b\xe2\x80\xae'\r\n";
  job.baseline = Baseline::torch_eager;
  job.baseline_source = "b";
  job.cases = {{.id = "small",
                .hidden = true,
                .interpreter = true,
                .axes = {{"n", 5}},
                .dtype = "float32",
                .distribution = "normal"}};
  job.targets = {"cuda:90"};
  job.want_artifacts = true;
  job.limits.run_wall_ms = 123;
  job.reference = CheckReference{.source = "def f(x): return '\x1b'\n",
                                 .entry = "f",
                                 .arguments = {{.name = "x",
                                                .type = "tensor",
                                                .dtype = "int8",
                                                .shape = {"n", "2*m"},
                                                .distribution = "range",
                                                .low = "0",
                                                .high = "n",
                                                .value = ""}},
                                 .tolerance = 0.5};
  const json document = job_to_json(job);
  const auto again = job_from_json(json::parse(document.dump()));
  REQUIRE(again);
  CHECK(job_to_json(*again) == document);
  CHECK(again->source == job.source);
  CHECK(again->cases[0].axes.at("n") == 5);
  CHECK(again->limits.run_wall_ms == 123);
  CHECK(again->reference == job.reference);
  CHECK_FALSE(job_from_json(json::object()));
}

}  // namespace assay::tools
