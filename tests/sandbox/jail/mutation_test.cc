#include "sandbox/jail/mutation.h"

#include "sandbox/jail/layer.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("an ordinary build leaves nothing out", "[jail]") {
  REQUIRE_FALSE(mutations_possible());
  const Status left_out = leave_out("seccomp");
  REQUIRE_FALSE(left_out);
  CHECK(left_out.error().code == ErrorCode::unavailable);
  CHECK(left_out_layers().empty());
  CHECK(check_not_left_out("seccomp"));
}

TEST_CASE("a layer that is applied is reported as it came out", "[jail]") {
  LayerList layers(true);
  CHECK(layers.apply("first", [] { return Status(); }));
  CHECK(layers.status());
  CHECK_FALSE(
      layers.apply("second", [] { return Status(fail(ErrorCode::unavailable, "not here")); }));
  REQUIRE(layers.layers().size() == 2);
  CHECK(layers.layers()[1].detail == "not here");
  REQUIRE_FALSE(layers.status());
  CHECK(layers.status().error().message.find("second") != std::string::npos);
}
