#include "sandbox/launcher/driver/hip_rtc.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("without hipRTC, the error names the packages that have it") {
  const Status opened = hip::open_hip_rtc();
  // Nothing is compiled with a hipRTC that is there: that of ROCm 5.2 aborts on a wrong text.
  if (opened) return;
  const auto image = hip::compile_text("", "hip:gfx942");
  REQUIRE_FALSE(image);
  CHECK(image.error().kind == LaunchErrorKind::internal_error);
  CHECK(image.error().message == opened.error().message);
  CHECK(opened.error().message.find("install the package hiprtc") != std::string::npos);
}
