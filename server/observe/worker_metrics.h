// Writes the metrics of the pools of workers, in the format of Prometheus.
//
//   mcp::MetricsText text;
//   write_worker_metrics(text, {pool.report()});
//   show(text.text());
//
// A pure function, thread-safe.
#pragma once

#include <vector>

#include "server/mcp/http/http_metrics.h"
#include "server/workers/fleet.h"

namespace assay::server {

/// Writes nothing if there are no pools.
void write_worker_metrics(mcp::MetricsText& text, const std::vector<FleetReport>& pools);

}  // namespace assay::server
