// Defines LaunchResult<T>, which contains a value or the LaunchError that says why a launch plan
// could not be performed. LaunchStatus is the result of calls that return no value. Errors are
// returned, not thrown.
//
//   if (width == 0) return launch_fail(LaunchErrorKind::invalid_plan, "fill: the width is 0");
//
// Pure functions, thread-safe.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "sandbox/wire/launch_error.h"

namespace assay::sandbox {

template <class T>
using LaunchResult = tl::expected<T, LaunchError>;
using LaunchStatus = LaunchResult<void>;

inline tl::unexpected<LaunchError> launch_fail(LaunchErrorKind kind, std::string message) {
  return tl::unexpected<LaunchError>(LaunchError{kind, std::move(message)});
}
inline tl::unexpected<LaunchError> launch_fail(LaunchError error) {
  return tl::unexpected<LaunchError>(std::move(error));
}

}  // namespace assay::sandbox
