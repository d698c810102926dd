// Builds the cases of a candidate's job from the cases that the judge prepared. A case names the
// memory file of each argument and of the outputs.
//
//   const CandidateInputs inputs = interpret_inputs(prepared, {0, 1}, outputs);
//   std::optional<std::vector<CaseDone>> done = candidate.perform(inputs, true);
//
// The functions are pure, except make_output_files(). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

/// The most cases of one candidate's job: each takes two descriptors.
inline constexpr std::size_t kMaxCasesPerCandidate = kMaxFrameFds / 2;

struct CandidateInputs {
  std::vector<CandidateCase> cases;
  std::vector<int> fds;  // borrowed from `prepared` and `outputs`
};

/// Makes a memory file for the outputs of each case. The files are invalid (-1) if the outputs go
/// to device memory.
Result<std::vector<UniqueFd>> make_output_files(const PreparedJob& prepared);

/// Returns the cases with these indices, to be interpreted, with the bytes of every argument.
/// `outputs` has the order of all cases.
CandidateInputs interpret_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                                 const std::vector<UniqueFd>& outputs);
/// Returns the cases with these indices, to be recorded. Only structural tensors come with their
/// bytes. A CUDA C++ submission has no host code that allocates outputs, so its cases also have the
/// outputs and the axes.
CandidateInputs record_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                              std::string_view language);
/// Returns the cases with these indices for a candidate of the host tier, with the shapes of their
/// outputs. The judge sends the bytes of the inputs later, round by round.
CandidateInputs host_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases);

}  // namespace assay::sandbox
