// Mutation: a layer of the jail that is left out on purpose, so that the escape suite can show
// which attempt notices (docs/reference/generated/escapes.md). Only a build with
// ASSAY_JAIL_MUTATIONS=ON can do so; in every other one nothing can be left out. A mutated layer
// reports itself as missing.
//
//   if (Status left = leave_out("seccomp,no_dumps"); !left) ...   // once at the start of a
//   process, before its first thread
//
// Set once per process; reading is thread-safe after that. The supervisor hands the list to
// assay-launcher and to assay-jail, and that to the zygote.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::sandbox {

inline constexpr const char* kLeftOutVariable =
    "ASSAY_LEFT_OUT_LAYERS";  // how assay-jail tells the zygote

bool mutations_possible();
/// Names of docs/explanation/sandbox.md, separated by commas. Errors: unavailable in a build
/// without mutations, invalid_argument for an unknown name.
Status leave_out(const std::string& names);
/// What leave_out() was given; empty: nothing.
const std::string& left_out_layers();
/// Why this layer is not to be tried; empty: it is.
Status check_not_left_out(std::string_view layer);

}  // namespace assay::sandbox
