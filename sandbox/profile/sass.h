// Counts the instructions of machine code that is given as text: NVIDIA's as nvdisasm prints it
// with line information, AMD's as its compiler writes it.
//
//   const CodeDigest digest =
//       digest_code(assembly, {.kernel = "add", .target = "cuda:90", .source = source});
//   const std::int64_t wide_loads = digest.global_loads.at("128");  // 16 bytes per thread
//
// The text comes from submitted binaries. The result is bounded whatever the text holds, and it
// contains only counts. A loop is the code between a label and a later branch to that label, unless
// the program ends unconditionally between them: ptxas puts rare paths behind that end, and they
// jump back. Pure function.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/job/profile.h"

namespace assay::sandbox {

struct CodeOrigin {
  std::string kernel;
  std::string target;
  std::string_view source;  // of the submission: the digest quotes its lines
};

inline constexpr std::size_t kMaxDigestOpcodes = 24;
inline constexpr std::size_t kMaxDigestLines = 400;

/// The digest has every line with instructions, up to kMaxDigestLines. Lines with the most
/// instructions in loops come first.
CodeDigest digest_code(std::string_view assembly, const CodeOrigin& origin);

}  // namespace assay::sandbox
