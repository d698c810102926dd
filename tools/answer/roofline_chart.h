// A roofline as a picture: attainable FLOP/s over FLOP per byte, both logarithmic; the memory roof,
// the roof of the units that the kernels use, the submission and the oracle.
//
//   Result<std::string> png = roofline_png(*verdict.profile);
//
// Thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/job/profile.h"

namespace assay::tools {

/// A PNG file of 900 x 600 pixels. Errors: unavailable in a build without cairo, invalid_argument
/// without costs to draw.
Result<std::string> roofline_png(const sandbox::Profile& profile);

}  // namespace assay::tools
