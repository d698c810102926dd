#include "tools/json/verdict_json.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tools/json/job_json.h"

namespace assay::tools {
namespace {

using namespace sandbox;
using nlohmann::json;

/// Every field differs from its default.
Verdict full_verdict() {
  Verdict v;
  v.job = "job_1";
  v.kind = JobKind::grade;
  v.operator_name = "vector_add";
  v.language = "cuda";
  v.outcome = Outcome::fail;
  v.error_kind = ErrorKind::wrong_result;
  v.stage = Stage::judge;
  v.summary = "fail (wrong_result): 2 of 2 cases wrong";
  v.detail = "more";
  v.diagnostic = Diagnostic{.exception = "ValueError",
                            .message = "no",
                            .line = 14,
                            .code = "tl.load(x)",
                            .traceback = "line 14",
                            .subject = "n888888"};
  CaseRecord shown;
  shown.id = "small";
  shown.outcome = Outcome::fail;
  shown.reason = "wrong";
  shown.max_abs_error = std::numeric_limits<double>::infinity();
  shown.float64_error = 0.5;
  shown.strict_pass = false;
  shown.elements = 4097;
  shown.mismatches = 17;
  shown.first_mismatch = Mismatch{.output = "z",
                                  .index = {3, 4},
                                  .expected = 1.5,
                                  .actual = -std::numeric_limits<double>::infinity()};
  shown.modified = "x";
  shown.latency =
      Timing{.median_ns = 100, .low_ns = 99, .high_ns = 101, .samples_ns = {99, 100, 101}};
  shown.baseline_latency =
      Timing{.median_ns = 120, .low_ns = 119, .high_ns = 121, .samples_ns = {120}};
  shown.pytorch_ns = 140;
  shown.floor_ns = 90;
  shown.timeline = {{"k", true, 12.5}, {"copy", false, 2.5}};
  shown.own_share = 0.8;
  shown.deterministic = false;
  shown.cost_bytes = 49164;
  shown.cost_flops = 4097;
  CaseRecord hidden = shown;
  hidden.id = "secret_tail";
  hidden.hidden = true;
  hidden.reason = "max abs error 31337.5";
  hidden.first_mismatch->expected = 31337.5;
  hidden.elements = 888888;
  v.cases = {shown, hidden};
  v.skipped_cases = {
      {{"large", "secret_half"}, 2, SkipReason::too_large, "too large for the interpreter"},
      {{"secret_tail"}, 0, SkipReason::other, "needs a GPU"}};
  KernelReport kernel;
  kernel.name = "add";
  kernel.target = "cuda:90";
  kernel.num_warps = 4;
  kernel.registers = 32;
  kernel.spill_bytes = 8;
  kernel.shared_bytes = 16;
  kernel.binary_bytes = 1000;
  kernel.occupancy = 0.5;
  kernel.occupancy_limiter = "registers";
  kernel.grid = {888, 1, 1};
  kernel.launches = 2;
  kernel.gpu_time_share = 0.9;
  v.kernels = {kernel};
  v.hints = {{HintKind::would_be_slow, "small", "would be slow: one program"},
             {HintKind::spills, "secret_tail", "spills 888888 bytes"}};
  v.artifacts = {{"plan", "small", std::string("\0\x01\xff\n", 4)}};
  v.stdout_text = "n = 888888";
  v.stderr_text = "888888";
  v.tier = Tier::interpreter;
  v.tier_reason = "no GPU";
  Profile profile;
  profile.case_id = "small";
  profile.target = "cuda:90";
  profile.device_name = "NVIDIA H200";
  profile.detail = ProfileDetail::sass;
  profile.evidence = Evidence::counters;
  profile.bound = Bound::compute;
  profile.reason = "85 %";
  profile.roofline = {1, 2, 3, 4, "float32", "a data sheet", 5, 6, 7, 0.8};
  profile.suggestion = "less";
  profile.code = {{"add",
                   "cuda:90",
                   9,
                   8,
                   7,
                   "tf32 tensor",
                   6,
                   5,
                   {{"128", 4}},
                   {{"64", 3}},
                   {{"32", 2}},
                   {{"16", 1}},
                   {{"HMMA", 7}},
                   {{"standard.py", 3, "x", 2, 1, {{"FADD", 1}}}}}};
  profile.counters = {{"add", {{"sm_pct", 85}}, "registers", {{"barrier", 0.5}}}};
  profile.missing = {{"timeline", "no GPU"}};
  v.profile = profile;
  v.perf = 1.25;
  v.stage_ms = {{"import", 1.5}};
  v.provenance = {.device = "cpu",
                  .device_name = "CPU",
                  .driver = "d",
                  .torch = "2",
                  .triton = "3",
                  .python = "3.11",
                  .assay = "0.1.0",
                  .nvrtc = "12.8",
                  .seeds = {{"small", "1"}, {"secret_tail", "2"}, {"secret_half", "3"}},
                  .missing_layers = {"cgroup"},
                  .operator_revision = "abc",
                  .source_sha256 = "def",
                  .plans = {{{"small", "0123"}}}};
  return v;
}

const std::vector<std::string> kHiddenIds = {"secret_tail", "secret_half"};

}  // namespace

TEST_CASE("a verdict survives the way to JSON and back, every field of it") {
  const json document = verdict_to_json(full_verdict());
  CHECK(document["format"] == "assay.verdict/2");
  const json reparsed = json::parse(document.dump());
  const auto again = verdict_from_json(reparsed);
  REQUIRE(again);
  CHECK(verdict_to_json(*again) == document);
  CHECK(again->artifacts[0].bytes == std::string("\0\x01\xff\n", 4));
  CHECK(std::isinf(*again->cases[0].max_abs_error));
  CHECK(again->cases[0].first_mismatch->actual == -std::numeric_limits<double>::infinity());
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
    if (key == "perf" || key == "diagnostic" || key == "profile") continue;
    json bad = good;
    bad.erase(key);
    INFO(key);
    if (key == "language")
      CHECK(verdict_from_json(bad)->language ==
            "python");  // verdicts from before there were others lack it
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

TEST_CASE("a redacted verdict tells nothing about the hidden cases") {
  const Verdict shown = redact_hidden(full_verdict(), kHiddenIds);
  const std::string text = verdict_to_json(shown).dump();
  for (const char* secret : {"secret", "888", "31337"}) {
    INFO(secret << " in " << text);
    CHECK(text.find(secret) == std::string::npos);
  }
  REQUIRE(shown.cases.size() == 2);
  CHECK(shown.cases[0].first_mismatch.has_value());  // public cases stay as they are
  CHECK(shown.cases[0].elements == 4097);
  CHECK(shown.cases[1].id == "hidden_1");
  CHECK(shown.cases[1].outcome == Outcome::fail);
  CHECK_FALSE(shown.cases[1].first_mismatch.has_value());
  CHECK_FALSE(shown.cases[1].max_abs_error.has_value());
  CHECK(shown.perf == 1.25);
  CHECK(shown.hints ==
        std::vector<Hint>{{HintKind::would_be_slow, "small", "would be slow: one program"}});
  CHECK(shown.skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 2, SkipReason::too_large, "too large for the interpreter"},
            {{}, 2, SkipReason::hidden, "not run on this device"}});
}

TEST_CASE("a hint about a hidden case, or in the submission's words, is removed by its type") {
  const auto shown = [](const Hint& hint) {
    Verdict v = full_verdict();
    v.hints = {hint};
    return !redact_hidden(v, kHiddenIds).hints.empty();
  };
  for (int i = 0; i <= static_cast<int>(HintKind::artifact_too_large) + 1; ++i) {
    const auto kind = static_cast<HintKind>(i);
    INFO(to_string(kind));
    const bool quotes = kind == HintKind::other || kind == HintKind::not_recorded ||
                        kind >= HintKind::artifact_too_large;  // the last one has no name
    for (const char* words : {"", "any words", "could be recorded", "would be slow"}) {
      CHECK(shown({kind, "small", words}) == !quotes);
      CHECK(shown({kind, "", words}) == !quotes);
      CHECK_FALSE(shown({kind, "secret_tail", words}));
    }
    CHECK_FALSE(shown({kind, "", "of case 'secret_half'"}));
  }
  Verdict early = full_verdict();  // its code did not run: what is said of a hidden case goes too
  early.outcome = Outcome::error;
  early.error_kind = ErrorKind::syntax_error;
  early.stage = Stage::import;
  CHECK(redact_hidden(early, kHiddenIds).hints.size() == 1);
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
  CHECK(redact_hidden(*read, kHiddenIds).hints.empty());
}

TEST_CASE("a graded submission cannot say what it saw through its exception") {
  Verdict v = full_verdict();
  v.language = "python";
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::value_error;
  v.stage = Stage::run;
  v.cases.clear();
  v.diagnostic->message = "x has 888888 elements";
  v.diagnostic->traceback = v.diagnostic->subject = "888888";
  v.summary = "error (value_error): 888888";
  v.detail = "888888";
  const Verdict shown = redact_hidden(v, kHiddenIds);
  CHECK(verdict_to_json(shown).dump().find("888888") == std::string::npos);
  CHECK(shown.diagnostic->exception == "ValueError");
  CHECK(shown.diagnostic->line == 14);

  CHECK(shown.summary == "ended in stage run with ValueError at line 14: tl.load(x)");

  v.stage = Stage::import;  // its code ran there too
  v.diagnostic->exception = "n is 888888!";
  CHECK(verdict_to_json(redact_hidden(v, kHiddenIds)).dump().find("888888") == std::string::npos);
  v.error_kind = ErrorKind::syntax_error;  // nothing ran: the message helps and is harmless
  v.diagnostic->message = "expected ':'";
  CHECK(redact_hidden(v, kHiddenIds).diagnostic->message == "expected ':'");
}

TEST_CASE("what a graded submission lacks is said, never in its own words") {
  Verdict v = full_verdict();
  v.language = "python";
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::missing_entry;
  v.stage = Stage::import;
  v.cases.clear();
  v.diagnostic = Diagnostic{.exception = "MissingEntry",
                            .message = "the source does not define `f`; it defines n888888",
                            .line = {},
                            .code = "",
                            .traceback = ""};
  v.summary = v.detail = "MissingEntry: it defines n888888";
  Verdict shown = redact_hidden(v, kHiddenIds);
  CHECK(verdict_to_json(shown).dump().find("888888") == std::string::npos);
  CHECK(shown.diagnostic->message == "the source does not define the entry function");

  v.language = "cuda";  // a manifest is read, and nothing in it runs
  v.error_kind = ErrorKind::value_error;
  v.diagnostic->message = "launch 1 has no grid";
  v.stdout_text = v.stderr_text = "";
  CHECK(redact_hidden(v, kHiddenIds).diagnostic->message == "launch 1 has no grid");
  v.stage = Stage::record;  // it is evaluated for the hidden cases
  v.diagnostic->message = "grid is 888888";
  v.detail = v.summary = "888888";
  CHECK(verdict_to_json(redact_hidden(v, kHiddenIds)).dump().find("888888") == std::string::npos);
}

TEST_CASE("a verdict on public cases is not redacted") {
  Verdict v = full_verdict();
  v.kind = JobKind::test;
  v.cases.pop_back();
  CHECK(verdict_to_json(redact_hidden(v, kHiddenIds)) == verdict_to_json(v));
}

TEST_CASE("a job survives the way to JSON and back, its source byte for byte") {
  Job job;
  job.id = "job_1";
  job.kind = JobKind::grade;
  job.operator_name = "vector_add";
  job.operator_dir = "/x";
  job.entry = "vector_add";
  job.source = "s = '\x1b\xe2\x80\xae'\r\n";
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
  const json document = job_to_json(job);
  const auto again = job_from_json(json::parse(document.dump()));
  REQUIRE(again);
  CHECK(job_to_json(*again) == document);
  CHECK(again->source == job.source);
  CHECK(again->cases[0].axes.at("n") == 5);
  CHECK(again->limits.run_wall_ms == 123);
  CHECK_FALSE(job_from_json(json::object()));
}

}  // namespace assay::tools
