// Tests what becomes of a verdict of the interpreter if the compiler ended in an error.
// tests/sandbox/device/cpu_test.cc and tests/e2e/test_cpu_verdicts.py test real compilations.
#include "sandbox/device/public_compile.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

Job job_with_a_case() {
  Job job;
  job.id = "job_1";
  job.kind = JobKind::test;
  job.cases.resize(1);
  job.cases[0].id = "small";
  return job;
}

struct Ended {
  Verdict verdict;
  bool continues = false;
  bool has_hint = false;
};

/// Adds a compilation that ended in `refused` to the result of the interpreter, which is a pass if
/// `interpreted` is `none`.
Ended after(ErrorKind interpreted, ErrorKind refused, bool described = true) {
  const Job job = job_with_a_case();
  JobMonitor monitor;
  JobExecution run(job, monitor);
  CaseRecord record;
  record.id = "small";
  record.outcome = Outcome::pass;
  run.verdict().cases = {record};
  run.verdict().tells_hidden = false;
  if (interpreted != ErrorKind::none) run.fail(interpreted, "by the interpreter");
  Compiled compiled;
  compiled.job = job;
  compiled.described = described;
  compiled.verdict.error_kind = refused;
  compiled.verdict.detail = "by the compiler";
  Ended ended;
  ended.continues = add_compiled(run, std::move(compiled), "cuda:90");
  ended.verdict = run.finish();
  const auto is_hint = [](const Hint& hint) { return hint.kind == HintKind::not_recorded; };
  ended.has_hint = std::ranges::any_of(ended.verdict.hints, is_hint);
  return ended;
}

}  // namespace

TEST_CASE("an error of the submission's compilation replaces a pass") {
  for (const ErrorKind kind : {ErrorKind::compilation_error, ErrorKind::memory_limit,
                               ErrorKind::unsupported, ErrorKind::timeout, ErrorKind::crash}) {
    const Ended ended = after(ErrorKind::none, kind);
    CHECK_FALSE(ended.continues);
    CHECK(ended.verdict.error_kind == kind);
    CHECK(ended.verdict.cases.empty());
    CHECK_FALSE(ended.has_hint);
    CHECK(ended.verdict.reports_shortage == (kind == ErrorKind::timeout));
  }
}

TEST_CASE("a compilation that was cancelled, or ended by machine or operator, is no pass") {
  for (const ErrorKind kind :
       {ErrorKind::cancelled, ErrorKind::internal_error, ErrorKind::reference_error}) {
    for (const ErrorKind interpreted :
         {ErrorKind::none, ErrorKind::unsupported, ErrorKind::type_error}) {
      const Ended ended = after(interpreted, kind);
      CHECK_FALSE(ended.continues);
      CHECK(ended.verdict.error_kind == kind);
    }
    CHECK(after(ErrorKind::timeout, kind).verdict.error_kind == ErrorKind::timeout);
  }
}

TEST_CASE("a judge that can describe no case without a GPU costs no pass") {
  const Ended ended = after(ErrorKind::none, ErrorKind::unsupported, /*described=*/false);
  CHECK(ended.continues);
  CHECK(ended.has_hint);
  CHECK(ended.verdict.error_kind == ErrorKind::none);
}

TEST_CASE(
    "if the operator's code stops the judge that describes cases, its error names the cause") {
  for (const ErrorKind interpreted : {ErrorKind::none, ErrorKind::reference_error}) {
    const Ended ended = after(interpreted, ErrorKind::reference_error, /*described=*/false);
    CHECK_FALSE(ended.continues);
    CHECK(ended.verdict.error_kind == ErrorKind::reference_error);
    CHECK(ended.verdict.detail == "by the compiler");
  }
}

TEST_CASE("an endless submission is not repeated because its compilation is endless too") {
  const Ended ended = after(ErrorKind::timeout, ErrorKind::timeout);
  CHECK(ended.verdict.error_kind == ErrorKind::timeout);
  CHECK(ended.verdict.detail == "by the interpreter");
  CHECK_FALSE(ended.verdict.reports_shortage);
}
