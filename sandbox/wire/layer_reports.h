// Reads and writes reports about the isolation layers of a jail (docs/reference/frames.md).
// Zygotes, candidates and launchers report which isolation layers of their jails are active.
//
//   nlohmann::json header = {{"type", "parked"}, {"layers", to_json(layers)}};
//   HeaderReader in(header, "parked");
//   const std::vector<LayerReport> read = read_layers(in);  // reads the field `layers`
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sandbox/jail/layer.h"

namespace assay::sandbox {

class HeaderReader;

inline constexpr std::size_t kMaxLayers = 256;

nlohmann::json to_json(const std::vector<LayerReport>& layers);
/// Reads the field `layers`, a list of at most kMaxLayers entries.
std::vector<LayerReport> read_layers(HeaderReader& in);

}  // namespace assay::sandbox
