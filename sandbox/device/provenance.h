// Fills in a verdict's provenance: the versions, the seeds and the missing isolation layers.
//
//   add_seeds(verdict.provenance, prepared.cases);
//   add_pool_facts(verdict.provenance, pool.facts());
//
// Not thread-safe: a verdict belongs to one thread.
#pragma once

#include <optional>
#include <vector>

#include "sandbox/job/job.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

void add_pool_facts(Provenance& provenance, const std::optional<PoolFacts>& facts);
/// Adds the names of the isolation layers that are inactive.
void add_missing_layers(Provenance& provenance, const std::vector<LayerReport>& layers);
void add_seeds(Provenance& provenance, const std::vector<PreparedCase>& cases);

}  // namespace assay::sandbox
