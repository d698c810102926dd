// What an instruction's name says of it: which memory it accesses and how wide, whether it is a
// matrix instruction and of which type.
//
//   nvidia_opcode("LDG.E.128.CONSTANT");      // {global_load, "LDG.128", "128"}
//   amd_opcode("v_mfma_f32_32x32x8_f16");     // {tensor, ..., unit "float16 tensor"}
//
// Names as nvdisasm and LLVM's AMDGPU backend print them. Pure functions.
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
    global_to_shared,  // an asynchronous copy, without registers between
    branch,
    end,      // of the program
    padding,  // does nothing
  };
  Kind kind = Kind::other;
  std::string name;   // for a histogram: without modifiers, but with the width of accesses
  std::string width;  // of an access: bits a thread, or "bulk" for a copy engine's
  std::string unit;   // of a matrix instruction, as in Roofline::unit
};

Opcode nvidia_opcode(std::string_view text);
Opcode amd_opcode(std::string_view text);

}  // namespace assay::sandbox
