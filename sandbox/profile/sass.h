// Counts the instructions in machine code that is given as text. For NVIDIA, the text is the output
// of nvdisasm with line information. For AMD, the text is the compiler's assembly.
//
//   const CodeDigest digest =
//       digest_code(assembly, {.kernel = "add", .target = "cuda:90", .source = source});
//   const std::int64_t wide_loads = digest.global_loads.at("128");  // 16 bytes per thread
//   nvidia_opcode("LDG.E.128.CONSTANT");   // {global_load, "LDG.128", "128"}
//   amd_opcode("v_mfma_f32_32x32x8_f16");  // {tensor, ..., unit "float16 tensor"}
//
// The text comes from submitted binaries and may contain anything. The result has a limited size.
// It contains counts, names of instructions, and lines of the submission. A loop is the code
// between a label and a later branch to this label. Such code does not count as a loop if it
// contains an instruction that always ends the program. The reason is that ptxas moves rarely
// executed code behind such an instruction, and this code jumps back. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/job/profile.h"

namespace assay::sandbox {

/// The facts in an instruction's name: the memory that the instruction accesses and the width of
/// the access, or the operand type of a matrix instruction.
struct Opcode {
  enum class Kind {
    other,
    tensor,
    barrier,
    local,
    global_load,
    global_store,
    shared_load,
    shared_store,
    global_to_shared,  // an asynchronous copy that uses no registers
    branch,
    end,      // ends the program
    padding,  // a no-op
  };
  Kind kind = Kind::other;
  std::string name;   // name in a histogram: without modifiers, except the width of an access
  std::string width;  // an access's bits per thread, "bulk" (copy engine) or "matrix" (LDSM, STSM)
  std::string unit;   // for a matrix instruction: its unit, as in Roofline::unit
};

/// Parses a name as nvdisasm prints it.
Opcode nvidia_opcode(std::string_view text);
/// Parses a name as LLVM's AMDGPU backend prints it.
Opcode amd_opcode(std::string_view text);

struct CodeOrigin {
  std::string kernel;
  std::string target;
  std::string_view source;  // the submission's source, whose lines the digest quotes
};

inline constexpr std::size_t kMaxDigestOpcodes = 24;
inline constexpr std::size_t kMaxDigestLines = 400;

/// Returns the digest of a kernel. It contains the lines that have instructions, at most
/// kMaxDigestLines. The lines with the most instructions in loops come first.
CodeDigest digest_code(std::string_view assembly, const CodeOrigin& origin);

}  // namespace assay::sandbox
