// Targets as callers name them: "cuda:90", "hip:gfx942". Whether the compiler knows one, the device
// says. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace assay::tools {

inline constexpr std::size_t kMaxTargetBytes = 24;

/// Refuses what is no target by its form, naming valid ones.
Status check_target(const std::string& target);

}  // namespace assay::tools
