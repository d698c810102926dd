// Builds the cases of a candidate's job from the cases that the judge prepared. Each built case
// refers to the memory files of its arguments and of its outputs.
//
//   const CandidateInputs inputs = interpret_inputs(prepared, {0, 1}, outputs);
//   std::optional<std::vector<CaseDone>> done = candidate.perform(inputs, true);
//
// All functions but make_output_files() are pure. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

/// The maximum number of cases in one candidate's job. Each case takes two descriptors, also in the
/// frame in which a judge sends the inputs: two memory files, or one beside the device memory.
inline constexpr std::size_t kMaxCasesPerCandidate = kMaxFrameFds / 2;

struct CandidateInputs {
  std::vector<CandidateCase> cases;
  std::vector<int> fds;  // borrowed: `prepared` and `outputs` own the descriptors
};

/// Creates a memory file for the outputs of each case. The file of a case is invalid (-1) if the
/// outputs go to device memory.
Result<std::vector<UniqueFd>> make_output_files(const PreparedJob& prepared);

/// Returns the cases with these indices, for a candidate that interprets them. Each case has the
/// bytes of all its arguments. `outputs` has one file for each case of the job, in the job's order.
CandidateInputs interpret_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                                 const std::vector<UniqueFd>& outputs);
/// Returns the cases with these indices, for a candidate that records them. Only structural tensors
/// have their bytes. A CUDA C++ submission has no host code that allocates outputs, so its cases
/// also have the outputs and the axes.
CandidateInputs record_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                              std::string_view language);
/// Returns the cases with these indices, for a candidate of the host tier. Each case has the shapes
/// of its outputs. The judge later sends the bytes of the inputs, before each round.
CandidateInputs host_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases);

}  // namespace assay::sandbox
