// Opcode: the facts that an instruction's name tells: which memory it accesses and how wide, and
// for a matrix instruction the type of its operands.
//
//   nvidia_opcode("LDG.E.128.CONSTANT");   // {global_load, "LDG.128", "128"}
//   amd_opcode("v_mfma_f32_32x32x8_f16");  // {tensor, ..., unit "float16 tensor"}
//
// Names are those that nvdisasm and LLVM's AMDGPU backend print. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace assay::sandbox {

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
    padding,  // does nothing
  };
  Kind kind = Kind::other;
  std::string name;   // for a histogram: without modifiers, except the width of an access
  std::string width;  // of an access: bits per thread; "bulk" for a copy engine
  std::string unit;   // of a matrix instruction, as in Roofline::unit
};

Opcode nvidia_opcode(std::string_view text);
Opcode amd_opcode(std::string_view text);

}  // namespace assay::sandbox
