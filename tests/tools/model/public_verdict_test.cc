#include "tools/model/public_verdict.h"

#include <functional>

#include "tests/catch.h"
#include "tests/tools/full_verdict.h"
#include "tools/json/verdict_json.h"

namespace assay::tools {
namespace {

using namespace sandbox;
using testing::full_verdict;
using testing::kHiddenIds;

operators::Operator vector_add_operator() {
  operators::Operator op;
  op.name = "vector_add";
  for (const char* id : {"small", "large"}) op.cases.emplace_back().id = id;
  for (const std::string& id : kHiddenIds) {
    op.cases.emplace_back().id = id;
    op.cases.back().hidden = true;
  }
  return op;
}

const operators::Operator& the_operator() {
  static const operators::Operator op = vector_add_operator();
  return op;
}

Verdict shown(const Verdict& verdict) { return public_verdict(verdict, &the_operator()).verdict(); }
std::string text_of(const Verdict& verdict) { return verdict_to_json(shown(verdict)).dump(); }

/// Returns the verdict of a grade in which the public case was right. So the submission was also
/// run on the hidden case.
Verdict told() {
  Verdict v = full_verdict();
  v.tells_hidden = true;
  v.cases[0].outcome = Outcome::pass;
  v.cases[0].reason.clear();
  v.cases[0].first_mismatch.reset();
  return v;
}

}  // namespace

TEST_CASE("a failure on hidden cases looks the same, whatever the submission made of it") {
  const std::string expected = text_of(told());
  CHECK(expected.find("hidden_case") != std::string::npos);
  const std::vector<std::function<void(Verdict&)>> changes = {
      [](Verdict& v) { v.outcome = Outcome::error, v.error_kind = ErrorKind::value_error; },
      [](Verdict& v) { v.outcome = Outcome::error, v.error_kind = ErrorKind::unsupported; },
      [](Verdict& v) { v.outcome = Outcome::error, v.error_kind = ErrorKind::syntax_error; },
      [](Verdict& v) { v.outcome = Outcome::error, v.error_kind = ErrorKind::crash; },
      [](Verdict& v) { v.outcome = Outcome::error, v.error_kind = ErrorKind::timeout; },
      [](Verdict& v) { v.error_kind = ErrorKind::output_mismatch; },
      [](Verdict& v) { v.error_kind = ErrorKind::unattributed; },
      [](Verdict& v) { v.stage = Stage::import; },
      [](Verdict& v) { v.stage = Stage::compile; },
      [](Verdict& v) { v.summary = v.detail = "n = 12289"; },
      [](Verdict& v) { v.diagnostic.reset(); },
      [](Verdict& v) { v.diagnostic->exception = "n12289"; },
      [](Verdict& v) { v.diagnostic->line = 12289; },
      [](Verdict& v) { v.diagnostic->code = v.diagnostic->traceback = "n12289"; },
      [](Verdict& v) { v.stdout_text = v.stderr_text = "n12289"; },
      [](Verdict& v) { v.artifacts.clear(); },
      [](Verdict& v) { v.profile.reset(); },
      [](Verdict& v) { v.perf = 3; },
      [](Verdict& v) {
        v.stage_ms = {{"run", 9}, {"judge", 12289}};
      },
      [](Verdict& v) { v.gpu_alone_ms = 12289; },
      [](Verdict& v) { v.launch->ms["run"] = 12289; },
      [](Verdict& v) { v.launch->new_contexts = 12289; },
      [](Verdict& v) { v.provenance.operator_revision = "another"; },
      [](Verdict& v) { v.provenance.suite_id.digest = "another"; },
      [](Verdict& v) { v.provenance.seeds["secret_tail"] = "12289"; },
      [](Verdict& v) { v.cases[1].strict_pass = true; },
      [](Verdict& v) { v.cases[1].outcome = Outcome::error; },
      [](Verdict& v) { v.cases[1].elements = 12289; },
      [](Verdict& v) { v.cases.push_back(v.cases[1]); },
      [](Verdict& v) { v.cases.pop_back(); },
      [](Verdict& v) { v.kernels[0].grid = {12289}, v.kernels[0].launches = 12289; },
      [](Verdict& v) {
        v.hints.push_back({HintKind::spills, "secret_tail", "12289 bytes"});
      },
      [](Verdict& v) {
        v.hints.push_back({HintKind::not_recorded, "small", "n12289"});
      },
      [](Verdict& v) {
        v.hints.push_back({HintKind::unattributed_run, "", "n12289"});
      },
      [](Verdict& v) {
        v.hints.push_back({HintKind::other, "", "n12289"});
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    Verdict v = told();
    changes[i](v);
    CHECK(text_of(v) == expected);
  }
}

TEST_CASE("a failure on hidden cases keeps what is known of the public ones") {
  const Verdict v = shown(told());
  for (const char* secret : {"secret", "888", "31337"})
    CHECK(text_of(told()).find(secret) == std::string::npos);
  CHECK(v.outcome == Outcome::fail);
  CHECK(v.error_kind == ErrorKind::hidden_case);
  REQUIRE(v.cases.size() == 2);
  CHECK(v.cases[0].id == "small");
  CHECK(v.cases[0].elements == 4097);
  CHECK(v.cases[1].id == "hidden");
  CHECK(v.cases[1].outcome == Outcome::fail);
  CHECK(v.provenance.seeds == std::map<std::string, std::string>{{"small", "1"}});
  CHECK(v.kernels[0].registers == 32);
  CHECK(v.hints ==
        std::vector<Hint>{{HintKind::would_be_slow, "small", "would be slow: one program"}});
  CHECK(v.skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 2, SkipReason::too_large, "too large for the interpreter"},
            {{}, 2, SkipReason::hidden, "not run on this device"}});
}

TEST_CASE("a graded hint does not quote the name of a kernel") {
  Verdict v = told();
  v.hints = {{HintKind::spills, "small", "k; next: FORGED spills 8 bytes"},
             {HintKind::low_occupancy, "small", "k; next: FORGED reaches 12 % occupancy"}};
  CHECK(shown(v).hints ==
        std::vector<Hint>{
            {HintKind::spills, "small", "a kernel spills registers"},
            {HintKind::low_occupancy, "small", "a kernel leaves too few warps to hide latency"}});
}

TEST_CASE("a verdict that ended before any hidden case was sent is shown in full") {
  Verdict v = told();
  v.tells_hidden = false;
  v.cases.clear();
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::value_error;
  v.stage = Stage::run;
  v.diagnostic->message = "x has 4097 elements";
  v.summary = v.detail = v.stdout_text = "n = 4097";
  v.provenance.suite_id = {"mine", "2", "0123"};
  const Verdict all = shown(v);
  CHECK(all.error_kind == ErrorKind::value_error);
  CHECK(all.stage == Stage::run);
  CHECK(all.diagnostic->message == "x has 4097 elements");
  CHECK(all.summary == "n = 4097");
  CHECK(all.stdout_text == "n = 4097");
  CHECK(all.provenance.operator_revision.empty());
  CHECK(all.provenance.suite_id == SuiteId{"mine", "2", ""});
}

TEST_CASE("a stored verdict that lacks the device's word counts as told") {
  nlohmann::json document = verdict_to_json(told());
  document.erase("tells_hidden");
  const auto read = verdict_from_json(document);
  REQUIRE(read);
  CHECK(shown(*read).error_kind == ErrorKind::hidden_case);
  CHECK(Verdict{}.tells_hidden);
}

TEST_CASE("a pass numbers the hidden cases and says nothing else of them") {
  Verdict v = told();
  v.outcome = Outcome::pass;
  v.error_kind = ErrorKind::none;
  v.cases[1].outcome = Outcome::pass;
  v.cases[0].max_abs_error = 0.25;
  v.perf = 1.23456;
  const Verdict passed = shown(v);
  REQUIRE(passed.cases.size() == 2);
  CHECK(passed.cases[1].id == "hidden_1");
  CHECK(passed.cases[1].outcome == Outcome::pass);
  CHECK_FALSE(passed.cases[1].strict_pass);
  CHECK_FALSE(passed.cases[1].latency);
  CHECK(passed.summary.find("largest scaled error 0.25") != std::string::npos);
  CHECK(passed.perf == Approx(1.23));
  CHECK(passed.stdout_text.empty());
  CHECK(text_of(v).find("888") == std::string::npos);
}

TEST_CASE("a failure of a public case after hidden cases were sent keeps its kind") {
  Verdict v = full_verdict();
  v.tells_hidden = true;
  for (const ErrorKind kind :
       {ErrorKind::floor_violation, ErrorKind::memory_error, ErrorKind::race}) {
    v.error_kind = kind;
    v.cases[1].outcome = Outcome::pass;
    CHECK(shown(v).error_kind == kind);
    v.cases[1].outcome = Outcome::fail;  // the error kind may come from the hidden case
    CHECK(shown(v).error_kind == ErrorKind::wrong_result);
  }
  v.error_kind = ErrorKind::value_error;
  CHECK(shown(v).error_kind == ErrorKind::wrong_result);
}

TEST_CASE("an error while a public case is timed is not shown as a failure of a hidden case") {
  Verdict v = told();
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::gpu_fault;
  v.detail = "n12289";
  v.cases[0].outcome = Outcome::error;
  v.cases[0].reason = "right at first, ended when it was timed: n12289";
  v.cases[1].outcome = Outcome::pass;
  const Verdict timed = shown(v);
  CHECK(timed.outcome == Outcome::error);
  CHECK(timed.error_kind == ErrorKind::gpu_fault);
  CHECK(timed.stage == Stage::judge);
  CHECK(timed.cases.size() == 1);
  CHECK(timed.summary.find("case 'small': it ended with this error (gpu_fault)") !=
        std::string::npos);
  CHECK(text_of(v).find("12289") == std::string::npos);

  v.error_kind = ErrorKind::value_error;  // no trusted process reports this kind in the timing
  CHECK(shown(v).error_kind == ErrorKind::wrong_result);
  CHECK(shown(v).outcome == Outcome::fail);  // a wrong result is no error
  v.error_kind = ErrorKind::gpu_fault;
  v.cases[0].outcome = Outcome::pass;
  v.cases[1].outcome = Outcome::error;
  CHECK(shown(v).error_kind == ErrorKind::hidden_case);
  CHECK(shown(v).outcome == Outcome::fail);
}

TEST_CASE("a public case that fails after hidden cases says nothing that was measured since") {
  const auto failed = [] {
    Verdict v = told();
    v.cases[0].outcome = Outcome::fail;
    v.cases[0].reason = "right at first, wrong when it was timed: output z: 1 of 4097 elements";
    v.cases[1].outcome = Outcome::pass;
    v.cases.insert(v.cases.begin(), v.cases[0]);
    v.cases[0].id = "large";
    v.cases[0].outcome = Outcome::pass;
    return v;
  };
  const std::string expected = text_of(failed());
  CHECK(shown(failed()).cases.size() == 2);
  CHECK(expected.find("it does not pass this case; a grade does not say more") !=
        std::string::npos);
  const std::vector<std::function<void(Verdict&)>> changes = {
      [](Verdict& v) { v.cases[1].reason = "n12289"; },
      [](Verdict& v) { v.cases[1].max_abs_error = 12289; },
      [](Verdict& v) { v.cases[1].float64_error = 12289; },
      [](Verdict& v) { v.cases[1].mismatches = 12289; },
      [](Verdict& v) {
        v.cases[1].first_mismatch = Mismatch{"z", {12289}, 0, 12289};
      },
      [](Verdict& v) { v.cases[1].wrong.clear(); },
      [](Verdict& v) { v.cases[1].modified = "x"; },
      [](Verdict& v) { v.cases[0].latency.emplace().median_ns = 12289; },
      [](Verdict& v) { v.cases[0].baseline_latency.emplace().median_ns = 12289; },
      [](Verdict& v) { v.cases[0].pytorch_ns = v.cases[0].floor_ns = 12289; },
      [](Verdict& v) { v.cases[0].timeline.clear(); },
      [](Verdict& v) { v.cases[0].own_share = 0.12289; },
      [](Verdict& v) { v.cases[0].deterministic = false; },
      [](Verdict& v) { v.cases[2].outcome = Outcome::error; },
      [](Verdict& v) { v.kernels[0].gpu_time_share = 0.12289; },
      [](Verdict& v) { v.provenance.seeds["small"] += ",12289,12289"; },
      [](Verdict& v) {
        v.hints.push_back({HintKind::not_deterministic, "", "n12289"});
        v.cases[0].deterministic = false;
      },
      [](Verdict& v) {
        v.hints.push_back({HintKind::times_not_trusted, "small", "n12289"});
      },
      [](Verdict& v) {
        v.hints.push_back({HintKind::oracle_not_recorded, "", "n12289"});
      },
      [](Verdict& v) {
        v.hints.push_back({HintKind::oracle_not_timed, "", "n12289"});
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    Verdict v = failed();
    changes[i](v);
    CHECK(text_of(v) == expected);
  }
  Verdict found = failed();
  found.error_kind = ErrorKind::race;
  found.cases[1].reason = "a race in kernel k, line 3";
  CHECK(shown(found).summary.find("a race in kernel k, line 3") != std::string::npos);
}

TEST_CASE("a hint that two runs differ is shown only if they were runs of a public case") {
  Verdict v = told();
  v.outcome = Outcome::pass;
  v.error_kind = ErrorKind::none;
  v.cases[1].outcome = Outcome::pass;
  v.hints = {{HintKind::not_deterministic, "", "two runs differ"}};
  v.cases[0].deterministic = true;
  v.cases[1].deterministic = false;
  CHECK(shown(v).hints.empty());
  v.cases[0].deterministic = false;
  CHECK(shown(v).hints.size() == 1);
}

TEST_CASE("an error of Assay says that, without its text") {
  Verdict v = told();
  v.outcome = Outcome::error;
  v.error_kind = ErrorKind::internal_error;
  v.summary = v.detail = "judging case 'secret_tail': 888888";
  CHECK(shown(v).error_kind == ErrorKind::internal_error);
  CHECK(text_of(v).find("secret") == std::string::npos);
  const std::string untimed = text_of(v);
  v.cases[0].latency.emplace().median_ns = 12289;
  v.cases[0].deterministic = false;
  v.provenance.seeds["small"] += ",12289";
  CHECK(text_of(v) == untimed);
  v.tells_hidden = false;
  CHECK(text_of(v).find("secret") == std::string::npos);
  v.error_kind = ErrorKind::cancelled;
  v.summary = v.detail = "cancelled before it ran";
  CHECK(shown(v).summary == "cancelled before it ran");
}

TEST_CASE("a verdict on public cases is shown in full") {
  Verdict v = full_verdict();
  v.kind = JobKind::test;
  v.cases.pop_back();
  v.provenance.operator_revision.clear();
  v.provenance.suite_id.digest.clear();
  CHECK(verdict_to_json(shown(v)) == verdict_to_json(v));
}

TEST_CASE("without its operator, a verdict names no case that was not run") {
  const Verdict v = public_verdict(told(), nullptr).verdict();
  CHECK(v.skipped_cases.front().ids.empty());
  CHECK(v.hints.front().kind == HintKind::would_be_slow);
  CHECK(verdict_to_json(v).dump().find("secret") == std::string::npos);
}

TEST_CASE("Perf has three digits, and the time of a grade whole seconds") {
  CHECK(*shown_perf(0.98765) == Approx(0.988));
  CHECK(*shown_perf(123.456) == Approx(123));
  CHECK_FALSE(shown_perf(std::nullopt));
  CHECK(shown_elapsed_ms(JobKind::grade, 1'001) == 2'000);
  CHECK(shown_elapsed_ms(JobKind::test, 1'001) == 1'001);
}

}  // namespace assay::tools
