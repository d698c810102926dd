#include "sandbox/wire/layer_reports.h"

#include "sandbox/wire/header_reader.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

TEST_CASE("layers survive writing and reading") {
  const std::vector<LayerReport> layers = {{.name = "seccomp", .active = true, .detail = ""},
                                           {.name = "cgroup", .active = false, .detail = "why"}};
  const json header = {{"layers", to_json(layers)}};
  HeaderReader in(header, "parked");
  const std::vector<LayerReport> read = read_layers(in);
  REQUIRE(in.status());
  CHECK(to_json(read) == to_json(layers));
  CHECK(header["layers"] == json::parse(layers_json(layers)));  // as assay-jail writes them
}

TEST_CASE("a layer without a field, or too many layers, are refused") {
  const auto error_of = [](const json& layers) {
    const json header = {{"layers", layers}};
    HeaderReader in(header, "parked");
    read_layers(in);
    REQUIRE_FALSE(in.status());
    return in.status().error().message;
  };
  const json layer = {{"name", "seccomp"}, {"active", true}, {"detail", ""}};
  for (const std::string name : {"name", "active", "detail"}) {
    json incomplete = layer;
    incomplete.erase(name);
    CHECK(error_of(json::array({incomplete})) == "a layer: `" + name + "` is missing");
  }
  CHECK(error_of(json::array_t(kMaxLayers + 1, layer)) ==
        "parked: `layers` has more than 256 entries");
}
