#include "server/report/model/stages.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::report;
using sandbox::ErrorKind;
using sandbox::JobKind;
using sandbox::Outcome;
using sandbox::Stage;
using tools::JudgedCall;

namespace {

constexpr JudgedCall kCompiled{JobKind::compile, Outcome::pass, ErrorKind::none, Stage::done};
constexpr JudgedCall kNotCompiled{JobKind::compile, Outcome::error, ErrorKind::syntax_error,
                                  Stage::import};
constexpr JudgedCall kWrong{JobKind::test, Outcome::fail, ErrorKind::wrong_result, Stage::judge};
constexpr JudgedCall kRight{JobKind::test, Outcome::pass, ErrorKind::none, Stage::done};

tools::OperatorScore score_of(std::vector<JudgedCall> calls,
                              std::optional<JudgedCall> graded = {}) {
  tools::OperatorScore score;
  score.operator_name = "f";
  score.calls = std::move(calls);
  if (!graded) return score;
  score.submitted = true;
  score.verdict.emplace();
  score.verdict->outcome = graded->outcome;
  score.verdict->error_kind = graded->error_kind;
  score.verdict->stage = graded->stage;
  return score;
}

std::string shown(const std::optional<FailureStage>& failure) {
  return failure ? failure->stage + ": " + failure->error_type : "nowhere";
}

}  // namespace

TEST_CASE("an attempt ended at the first tool that no version of it passed") {
  CHECK(shown(failure_of(score_of({kNotCompiled, kNotCompiled}))) == "compile: SyntaxError");
  CHECK(shown(failure_of(score_of({kNotCompiled, kCompiled, kWrong}))) ==
        "run_tests: ResultsError");
  CHECK(shown(failure_of(score_of({kCompiled, kWrong, kNotCompiled}))) == "run_tests: SyntaxError");
  CHECK(shown(failure_of(score_of({kCompiled, kRight}, kWrong))) == "submit: ResultsError");
  CHECK(shown(failure_of(score_of({kCompiled, kRight}))) == "submit: ");
  CHECK(shown(failure_of(score_of({kCompiled, kRight}, kRight))) == "nowhere");
  CHECK(shown(failure_of(score_of({}))) == "nowhere");
}

TEST_CASE("without calls, the graded submission shows the stage") {
  // The interpreter compiles a kernel when the kernel runs, so this error has the stage `run`.
  const JudgedCall not_compiled{JobKind::grade, Outcome::error, ErrorKind::compilation_error,
                                Stage::run};
  const JudgedCall crashed{JobKind::grade, Outcome::error, ErrorKind::crash, Stage::run};
  const JudgedCall imported_nothing{JobKind::grade, Outcome::error, ErrorKind::name_error,
                                    Stage::import};
  CHECK(shown(failure_of(score_of({}, not_compiled))) == "compile: CompilationError");
  CHECK(shown(failure_of(score_of({}, imported_nothing))) == "compile: NameError");
  CHECK(shown(failure_of(score_of({}, crashed))) == "run_tests: RuntimeError");
  tools::OperatorScore hidden_wrong = score_of({}, kWrong);
  sandbox::CaseRecord record;
  record.outcome = Outcome::pass;
  hidden_wrong.verdict->cases = {record, record};
  hidden_wrong.verdict->cases[1].hidden = true;
  hidden_wrong.verdict->cases[1].outcome = Outcome::fail;
  CHECK(shown(failure_of(hidden_wrong)) == "submit: ResultsError");
  hidden_wrong.verdict->cases[0].outcome = Outcome::fail;
  CHECK(shown(failure_of(hidden_wrong)) == "run_tests: ResultsError");
}

TEST_CASE("an error outside of the submission ends no attempt") {
  const JudgedCall no_gpu{JobKind::grade, Outcome::error, ErrorKind::unsupported, Stage::run};
  const JudgedCall aborted{JobKind::test, Outcome::error, ErrorKind::aborted, Stage::run};
  CHECK(shown(failure_of(score_of({kCompiled, kWrong}, no_gpu))) == "nowhere");
  CHECK(shown(failure_of(score_of({aborted}))) == "nowhere");
  CHECK(shown(failure_of(score_of({kNotCompiled, aborted}))) == "compile: SyntaxError");
}

TEST_CASE("every stage is counted, each with TritonBench's four groups") {
  const std::vector<StageCount> counts = count_stages(
      {FailureStage{"compile", "SyntaxError", "Syntax"},
       FailureStage{"compile", "NameError", "Name & Reference"}, std::nullopt,
       FailureStage{"submit", "", ""}, FailureStage{"submit", "ResultsError", "Runtime & Logic"}});
  REQUIRE(counts.size() == 3);
  CHECK(counts[0].stage == "compile");
  CHECK(counts[0].attempts == 2);
  REQUIRE(counts[0].groups.size() == 4);
  CHECK(counts[0].groups[0].total == 1);
  CHECK(counts[0].groups[2].total == 1);
  CHECK(counts[1].attempts == 0);
  CHECK(counts[2].attempts == 2);
  CHECK(counts[2].without_error == 1);
  CHECK(counts[2].groups[3].total == 1);
}
