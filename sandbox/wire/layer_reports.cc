#include "sandbox/wire/layer_reports.h"

#include "base/json.h"
#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {

nlohmann::json to_json(const std::vector<LayerReport>& layers) {
  nlohmann::json list = nlohmann::json::array();
  for (const LayerReport& layer : layers)
    list.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return list;
}

std::vector<LayerReport> read_layers(HeaderReader& in) {
  std::vector<LayerReport> layers;
  for (const nlohmann::json& entry : in.list("layers", kMaxLayers)) {
    HeaderReader layer(entry, "a layer");
    layers.push_back({layer.text("name"), layer.flag("active"), layer.text("detail")});
    in.merge(layer);
  }
  return layers;
}

}  // namespace assay::sandbox
