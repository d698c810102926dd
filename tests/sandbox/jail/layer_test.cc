#include "sandbox/jail/layer.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("an ordinary build leaves nothing out") {
  REQUIRE_FALSE(mutations_possible());
  const Status left_out = leave_out("seccomp");
  REQUIRE_FALSE(left_out);
  CHECK(left_out.error().code == ErrorCode::unavailable);
  CHECK(left_out_layers().empty());
  CHECK(check_not_left_out("seccomp"));
}

TEST_CASE("a layer that is applied is reported with its result") {
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

TEST_CASE("a missing layer is an error only under strict isolation") {
  LayerList lenient(false), strict(true);
  for (LayerList* list : {&lenient, &strict}) {
    CHECK(list->add("one", {}));
    CHECK(list->status());
    CHECK_FALSE(list->add("two", fail(ErrorCode::io, "no \"two\"\n")));
  }
  CHECK(lenient.status());
  CHECK(strict.status().error().message.find("two") != std::string::npos);
  CHECK(
      layers_json(lenient.layers()) ==
      R"([{"name":"one","active":true,"detail":""},{"name":"two","active":false,"detail":"no \"two\"\u000a"}])");
}

TEST_CASE("a layer of two jails is active only if it is active in both") {
  const std::vector<LayerReport> both = layers_of_both(
      {{"seccomp", true, ""}, {"landlock", false, "old kernel"}, {"capabilities", true, ""}},
      {{"seccomp", false, "refused"}, {"landlock", true, ""}, {"device_nodes", true, ""}});
  REQUIRE(both.size() == 4);
  CHECK_FALSE(both[0].active);
  CHECK(both[0].detail == "refused");
  CHECK_FALSE(both[1].active);
  CHECK(both[1].detail == "old kernel");
  CHECK(both[2].active);
  CHECK(both[3].name == "device_nodes");
}
