// Writes the metrics about the state of a server: its build, its devices with their queues, its
// store and its clock.
//
//   write_server_metrics(text, {.version = "1.0", .loads = jobs.load(), .store = "assay.db"});
//
// Thread-safe. Reads the size of the store's files and the free space of its disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/mcp/http/http_metrics.h"
#include "server/runs/job_service.h"

namespace assay::server {

struct ServerState {
  std::string version;
  std::vector<StoredJobs::Load> loads;
  std::filesystem::path store;  // the path of the store's file
  bool store_writable = true;
  bool draining = false;
};
void write_server_metrics(mcp::MetricsText& text, const ServerState& state,
                          const Clock& clock = system_clock());

}  // namespace assay::server
