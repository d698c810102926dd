#include "server/conformance/media.h"

#include "base/base64.h"

namespace assay::conformance {

std::string red_pixel_png() {
  return base64_decode(
             "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJR"
             "U5ErkJggg==")
      .value_or("");
}

std::string silent_wav() {
  return base64_decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==")
      .value_or("");
}

}  // namespace assay::conformance
