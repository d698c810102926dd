// From what the judge prepared to what candidates, launcher and judge get: which memory file goes
// where.
//
//   CandidateInputs inputs = interpret_inputs(prepared, outputs);      // every case with its input
//   and output file run_candidate(run, pool, {.cases = inputs.cases}, source, inputs.fds);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

/// Most cases that fit one candidate's job: two descriptors each.
inline constexpr std::size_t kMaxCasesPerCandidate = kMaxFrameFds / 2;

struct CandidateInputs {
  std::vector<CandidateCase> cases;
  std::vector<int> fds;  // borrowed from `prepared` and `outputs`
};

/// A memory file for each case's outputs; without a file (-1) where they go to device memory.
Result<std::vector<UniqueFd>> make_output_files(const PreparedJob& prepared);

/// Cases to interpret, with all bytes; `outputs` in the order of the cases.
CandidateInputs interpret_inputs(const PreparedJob& prepared, const std::vector<UniqueFd>& outputs);
/// Cases to record, those with these indices: real bytes of structural tensors only. What stands
/// for host code in CUDA C++ is told of outputs and axes too.
CandidateInputs record_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                              std::string_view language);
/// All cases for a candidate with the GPU: no bytes, which come in rounds, but what the outputs
/// have to be.
std::vector<CandidateCase> host_inputs(const PreparedJob& prepared);

}  // namespace assay::sandbox
