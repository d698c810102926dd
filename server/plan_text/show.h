// Shows a launch plan as text: header, buffers, binaries, operations in order, outputs.
//
//   std::string text = show_plan(plan, bytes.size());
//
// Pure function.
#pragma once

#include <cstddef>
#include <string>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

/// `plan_bytes`: the size of its byte form.
std::string show_plan(const sandbox::Plan& plan, std::size_t plan_bytes);

/// "version 2, target cuda:90, 31,204 bytes"
std::string plan_header(const sandbox::Plan& plan, std::size_t plan_bytes);

}  // namespace assay::server
