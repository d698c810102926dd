#include "sandbox/judging/judge_retries.h"

#include <deque>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

const Error kEnded{ErrorCode::unavailable, "the judge did not answer: killed by signal 6"};
const Error kForgotten{ErrorCode::not_found, "job 'j' has no prepared case 'a'"};
const Error kNoMemory{ErrorCode::resource_exhausted, "CUDA out of memory"};
const Error kPreempted{ErrorCode::preempted, "another job was timed"};
const Error kDefect{ErrorCode::internal, "ValueError"};

/// Runs a job whose attempts fail with these errors, in this order, and then succeed. Returns the
/// attempts, and "free" where memory was freed.
std::vector<std::string> attempts(JudgeRetries& retries, JobExecution& run,
                                  std::deque<Error> errors) {
  std::vector<std::string> seen;
  const auto attempt = [&](const char* way) {
    seen.emplace_back(way);
    if (run.needs_all_memory()) seen.back() += " with all memory";
    CHECK_FALSE(run.failed());
    if (errors.empty()) return;
    run.fail_by_judge(errors.front(), "preparing inputs");
    errors.pop_front();
  };
  retries.execute(run, {.shared = [&] { attempt("shared"); },
                        .alone = [&] { attempt("alone"); },
                        .free_memory = [&] { seen.emplace_back("free"); }});
  return seen;
}

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("a job whose operator ends its judge gets a judge of its own, then an error of its own") {
  JudgeRetries retries;
  Job job;
  job.operator_dir = "/suite/standard/ends";
  JobMonitor monitor;
  {
    JobExecution run(job, monitor);
    CHECK(attempts(retries, run, {kEnded}) == Seen{"shared", "alone"});
    CHECK_FALSE(run.failed());
  }
  {
    JobExecution run(job, monitor);
    CHECK(attempts(retries, run, {kEnded, kEnded}) == Seen{"shared", "alone"});
    CHECK(run.verdict().error_kind == ErrorKind::reference_error);
    CHECK(run.verdict().detail.find("signal 6") != std::string::npos);
  }
  // The operator is known to end judges, and other operators are not affected.
  JobExecution defect(job, monitor);
  CHECK(attempts(retries, defect, {kDefect}) == Seen{"alone"});
  JobExecution later(job, monitor);
  CHECK(attempts(retries, later, {}) == Seen{"alone"});
  // A job with a judge of its own had no trouble, so the next job shares a judge.
  JobExecution mended(job, monitor);
  CHECK(attempts(retries, mended, {}) == Seen{"shared"});
  Job other = job;
  other.operator_dir = "/suite/standard/other";
  JobExecution run(other, monitor);
  CHECK(attempts(retries, run, {}) == Seen{"shared"});
}

TEST_CASE("a job whose judge another job ended runs again, and in the end with its own judge") {
  JudgeRetries retries;
  Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  CHECK(attempts(retries, run, {kForgotten, kForgotten}) == Seen{"shared", "shared", "shared"});
  CHECK_FALSE(run.failed());
  JobExecution unlucky(job, monitor);
  CHECK(attempts(retries, unlucky, {kForgotten, kForgotten, kForgotten}) ==
        Seen{"shared", "shared", "shared", "alone"});
  CHECK_FALSE(unlucky.failed());
}

TEST_CASE("an operator whose judge gives way to timed jobs is not to blame") {
  JudgeRetries retries;
  Job job;
  job.operator_dir = "/suite/standard/slow";
  JobMonitor monitor;
  JobExecution run(job, monitor);
  CHECK(attempts(retries, run, {kPreempted, kPreempted, kPreempted, kPreempted}) ==
        Seen{"shared", "shared", "shared", "alone", "alone"});
  CHECK_FALSE(run.failed());
  JobExecution unlucky(job, monitor);
  CHECK(attempts(retries, unlucky, {6, kPreempted}) ==
        Seen{"shared", "shared", "shared", "alone", "alone", "alone"});
  CHECK(unlucky.verdict().error_kind == ErrorKind::internal_error);
  JobExecution later(job, monitor);  // the operator is not known to end judges
  CHECK(attempts(retries, later, {}) == Seen{"shared"});
}

TEST_CASE("a judge without device memory gets memory once, and then the error is Assay's") {
  JudgeRetries retries;
  Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  CHECK(attempts(retries, run, {kNoMemory}) == Seen{"shared", "free", "shared with all memory"});
  CHECK_FALSE(run.failed());
  JobExecution full(job, monitor);
  CHECK(attempts(retries, full, {kNoMemory, kNoMemory}) ==
        Seen{"shared", "free", "shared with all memory"});
  CHECK(full.verdict().error_kind == ErrorKind::internal_error);
}

TEST_CASE("a defect is not tried again, and a cancelled job neither") {
  JudgeRetries retries;
  Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  CHECK(attempts(retries, run, {kDefect}) == Seen{"shared"});
  CHECK(run.verdict().error_kind == ErrorKind::internal_error);
  std::stop_source stop;
  stop.request_stop();
  monitor.stop = stop.get_token();
  JobExecution cancelled(job, monitor);
  CHECK(attempts(retries, cancelled, {kEnded}) == Seen{"shared"});
  CHECK(cancelled.verdict().error_kind == ErrorKind::cancelled);
}

TEST_CASE("an attempt begins without the last one's cases, and keeps what was told") {
  Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  run.verdict().provenance.device = "cuda:0";
  run.verdict().cases.emplace_back();
  run.tell_hidden();
  run.fail_by_judge(kForgotten, "judging case 'a'");
  run.begin_again(false);
  CHECK_FALSE(run.failed());
  CHECK_FALSE(run.judge_trouble());
  CHECK(run.verdict().cases.empty());
  CHECK(run.verdict().tells_hidden);
  CHECK(run.verdict().provenance.device == "cuda:0");
}
