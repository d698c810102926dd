// A mutation leaves out one layer of the jail on purpose, so that the escape suite can show which
// attempt then succeeds (docs/reference/generated/escapes.md). Only a build with
// ASSAY_JAIL_MUTATIONS=ON can leave out a layer. A layer that is left out reports itself as
// missing.
//
//   Status left = leave_out("seccomp,no_dumps");
//
// Call it once at the start of a process, before its first thread; reading is thread-safe after
// that. The supervisor gives the list to assay-launcher and assay-jail, and assay-jail to the
// zygote.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::sandbox {

// how assay-jail tells the zygote
inline constexpr const char* kLeftOutVariable = "ASSAY_LEFT_OUT_LAYERS";

bool mutations_possible();
/// Takes names of docs/explanation/sandbox.md, separated by commas. Errors: unavailable in a build
/// without mutations, invalid_argument for an unknown name.
Status leave_out(const std::string& names);
/// Returns the argument of leave_out(), or an empty string.
const std::string& left_out_layers();
/// Returns why this layer is left out, or an empty string if it is not.
Status check_not_left_out(std::string_view layer);

}  // namespace assay::sandbox
