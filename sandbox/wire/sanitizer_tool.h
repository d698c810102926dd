// Names the tools of NVIDIA Compute Sanitizer. Each tool finds one kind of mistake in kernels.
//
//   sanitizer_tool_from("racecheck");  // SanitizerTool::racecheck
//   to_string(SanitizerTool::memcheck);
//
// Values and pure functions, thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace assay::sandbox {

enum class SanitizerTool {
  memcheck,   // accesses outside of allocations, and misaligned accesses
  racecheck,  // races in shared memory
  initcheck,  // reads of global memory that nothing has written
  synccheck,  // wrong use of barriers
};

/// All tools, in the order in which they check a plan. memcheck comes first, because the
/// documentation of Compute Sanitizer says that the results of the other tools are reliable only if
/// memcheck finds nothing.
inline constexpr std::array kSanitizerTools = {SanitizerTool::memcheck, SanitizerTool::racecheck,
                                               SanitizerTool::initcheck, SanitizerTool::synccheck};

std::string_view to_string(SanitizerTool tool);
std::optional<SanitizerTool> sanitizer_tool_from(std::string_view text);

}  // namespace assay::sandbox
