#include "tests/catch.h"
#include "tools/answer/verdict_answer.h"

namespace assay::tools {
namespace {

sandbox::Profile profile(double latency_ns) {
  sandbox::Profile made;
  made.case_id = "large";
  made.device_name = "NVIDIA H200";
  made.roofline = {302e6, 25e6, 4.8e12, 67e12, "float32", "a data sheet", 62'917, {}, {}, {}};
  if (latency_ns > 0) made.roofline.latency_ns = latency_ns;
  return made;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

}  // namespace

TEST_CASE("the PNG has its documented size, and differs for other times") {
  const auto png = roofline_png(profile(79'400));
  REQUIRE(png);
  CHECK(png->starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(number_at(*png, 16) == 900);
  CHECK(number_at(*png, 20) == 600);
  CHECK(png->size() > 4'000);
  CHECK(*roofline_png(profile(900'000)) != *png);
  CHECK(*roofline_png(profile(0)) != *png);
}

TEST_CASE("extreme costs can be drawn, and missing costs are an error") {
  sandbox::Profile extreme = profile(1);
  extreme.roofline.cost_flops = 0;
  CHECK(roofline_png(extreme));
  extreme.roofline.cost_flops = 1e18;
  CHECK(roofline_png(extreme));
  extreme.roofline.cost_bytes = 0;
  CHECK_FALSE(roofline_png(extreme));
}

}  // namespace assay::tools
