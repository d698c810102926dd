#include "sandbox/device/provenance.h"

namespace assay::sandbox {

void add_pool_facts(Provenance& provenance, const std::optional<PoolFacts>& facts) {
  if (!facts) return;
  provenance.torch = facts->versions.torch;
  provenance.triton = facts->versions.triton;
  provenance.python = facts->versions.python;
  provenance.nvrtc = facts->versions.nvrtc;
  add_missing_layers(provenance, facts->layers);
}

void add_missing_layers(Provenance& provenance, const std::vector<LayerReport>& layers) {
  for (const LayerReport& layer : layers) {
    if (!layer.active) provenance.missing_layers.push_back(layer.name);
  }
}

void add_seeds(Provenance& provenance, const std::vector<PreparedCase>& cases) {
  for (const PreparedCase& one : cases) provenance.seeds[one.id] = one.seed;
}

}  // namespace assay::sandbox
