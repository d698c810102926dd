// Machine code as text, read into numbers: NVIDIA's as nvdisasm prints it with line information,
// AMD's as its compiler writes it.
//
//   const CodeDigest digest = digest_code(assembly, {.kernel = "add", .target = "cuda:90", .source
//   = source}); digest.global_loads["128"];          // how many 16-byte loads from global memory
//
// The text comes from submitted binaries: whatever it holds, the result is bounded and nothing is
// believed but what is counted. A loop is what lies between a label and a later branch to it,
// without an unconditional end of the program between them: ptxas puts rare paths behind the end,
// which jump back. Pure function.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/job/profile.h"

namespace assay::sandbox {

struct CodeOrigin {
  std::string kernel;
  std::string target;
  std::string_view source;  // the submission's, for the text of its lines
};

inline constexpr std::size_t kMaxDigestOpcodes = 24;
inline constexpr std::size_t kMaxDigestLines = 400;

/// Every line that has instructions, up to kMaxDigestLines; most in loops first.
CodeDigest digest_code(std::string_view assembly, const CodeOrigin& origin);

}  // namespace assay::sandbox
