// PublicCompile compiles the public cases of a job for a GPU. It does so on a separate thread,
// while the CPU device runs the small cases in Triton's interpreter. The interpreter alone is not
// enough. It runs a kernel as Python, so it accepts kernels that the compiler refuses or that
// exceed the GPU's limits.
//
//   const Compilers compilers{pool, describer, recordings, "cuda:90"};
//   PublicCompile compiling(run, compilers);
//   // Meanwhile, the interpreter runs the small cases.
//   Compiled compiled = compiling.wait();
//   if (!compiled.results) return fail_as_compiled(run, std::move(compiled));
//
// Each kernel of the public cases is compiled once for each specialisation that the cases use,
// because one candidate compiles all of them. The candidate never gets a hidden case of a job that
// has public cases. Use an object only on the job's thread.
#pragma once

#include <future>
#include <optional>
#include <string>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/record/case_describer.h"
#include "sandbox/record/recording_cache.h"

namespace assay::sandbox {

/// The processes that compile, the cache of earlier recordings, and the target. The caller owns all
/// of them.
struct Compilers {
  CandidatePool& pool;
  CaseDescriber& describer;
  RecordingCache& recordings;
  std::string target;
};

/// The result of a compilation.
struct Compiled {
  Job job;                                  // only with the cases that were compiled
  std::optional<CandidateResults> results;  // in the order of the cases; nothing after an error
  double cost_bytes = 0;                    // least traffic of the largest case; 0 if unknown
  bool described = false;                   // a judge has described the cases for the compiler
  Verdict verdict;                          // the error, if there are no results
};

class PublicCompile {
 public:
  /// Starts to compile. `run` and `compilers` must outlive this object.
  PublicCompile(const JobExecution& run, const Compilers& compilers);
  /// Waits until the compilation has ended.
  ~PublicCompile() = default;
  PublicCompile(const PublicCompile&) = delete;
  PublicCompile& operator=(const PublicCompile&) = delete;

  /// Waits for the result and returns it. Call this function only once.
  Compiled wait() { return compiled_.get(); }

 private:
  std::future<Compiled> compiled_;  // its destructor waits for the thread
};

/// Returns a copy of the job with a new id and only the public cases: at most as many cases as one
/// candidate accepts. If no case is public, the copy has only the largest case.
Job public_cases_only(const Job& job);

/// Replaces the records and the error of the job's verdict by the error of the compilation. Returns
/// false.
bool fail_as_compiled(JobExecution& run, Compiled compiled);

/// Adds the outcome of a compilation to a verdict about the same public cases. A compilation error
/// replaces the verdict, because compilation precedes the run on a machine with a GPU. Any other
/// error replaces a pass or `unsupported`, also one of Assay, of the machine or of the operator,
/// because nothing shows then that the kernels compile. It becomes a hint if the judge cannot
/// describe the cases for the compiler without a GPU. If the source compiles but fails in the
/// interpreter with a Python exception, the verdict becomes `unsupported`, because the exception
/// may come from the interpreter. Returns false if the verdict is an error.
bool add_compiled(JobExecution& run, Compiled compiled, const std::string& target);

}  // namespace assay::sandbox
