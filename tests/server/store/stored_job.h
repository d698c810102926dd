// Defines a job, the job's verdict and a run for the tests of the store.
#pragma once

#include <string>

#include "base/handle.h"
#include "server/store/store.h"

namespace assay::server::stored {

inline sandbox::Job job_of(const std::string& source = "x = 1\n") {
  sandbox::Job job;
  job.id = new_handle("job");
  job.kind = sandbox::JobKind::grade;
  job.operator_name = "vector_add";
  job.source = source;
  return job;
}

inline sandbox::Verdict verdict_of(const sandbox::Job& job) {
  sandbox::Verdict verdict;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.perf = 1.5;
  return verdict;
}

inline tools::RunInfo run_of() {
  tools::RunInfo run;
  run.handle = new_handle("run");
  run.request = {.agent = "a", .model = "m", .track = tools::Track::iterative, .suite = "all"};
  run.budgets = {.compiles = 20, .tests = 10, .profiles = 10, .submissions = 1, .run_wall_s = 5};
  run.operators = {"row_sum", "vector_add"};
  run.created_unix_ms = 1;
  run.expires_unix_ms = 2;
  return run;
}

}  // namespace assay::server::stored
