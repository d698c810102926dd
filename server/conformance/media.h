// The smallest files of their kinds.
#pragma once

#include <string>

namespace assay::conformance {

/// A PNG of one red pixel.
std::string red_pixel_png();
/// A WAV of one silent sample.
std::string silent_wav();

}  // namespace assay::conformance
