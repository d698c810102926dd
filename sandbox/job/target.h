// Lists the targets for which Assay compiles. Help texts, errors and the tables of device
// properties are derived from this list, so a new target is added in one place. If code lacks a new
// target, the compilation or a test fails. This file contains constants and a pure function.
//
//   for (const std::string_view target : kTargets) show(target);
//   show(target_names());  // "cuda:80, cuda:90, cuda:100, hip:gfx90a, ..."
//
// The harness has a table with the properties of the same targets
// (sandbox/harness/entry/fake_cuda.py).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/text.h"

namespace assay::sandbox {

inline constexpr std::array<std::string_view, 6> kTargets = {
    "cuda:80", "cuda:90", "cuda:100", "hip:gfx90a", "hip:gfx942", "hip:gfx950"};

/// The target that is used where there is no GPU and the caller names no target.
inline constexpr std::string_view kDefaultTarget = "cuda:90";

/// Returns all targets, separated by commas.
inline std::string target_names() { return join(kTargets); }

}  // namespace assay::sandbox
