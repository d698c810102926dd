#include "server/observe/server_metrics.h"

#include <cstdint>
#include <system_error>

namespace assay::server {
namespace {

constexpr double kMsPerSecondDouble = 1e3;

/// Returns the size of the store with the files that SQLite keeps beside it.
double store_bytes(const std::filesystem::path& store) {
  double total = 0;
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(store.string() + ending, error);
    if (!error) total += static_cast<double>(bytes);
  }
  return total;
}

double free_bytes(const std::filesystem::path& store) {
  std::error_code error;
  const std::filesystem::space_info space =
      std::filesystem::space(std::filesystem::absolute(store).parent_path(), error);
  return error ? 0 : static_cast<double>(space.available);
}

}  // namespace

void write_server_metrics(mcp::MetricsText& text, const ServerState& state, const Clock& clock) {
  text.family("assay_build_info", "gauge", "The version of the server, with the value 1.");
  text.sample("assay_build_info", {{"version", state.version}}, 1);
  text.family("assay_device_info", "gauge", "The devices of the server, with the value 1.");
  for (const auto& load : state.loads)
    text.sample("assay_device_info", {{"device", load.device}, {"description", load.description}},
                1);
  text.family("assay_jobs_queued", "gauge", "Jobs that wait for their device.");
  for (const auto& load : state.loads)
    text.sample("assay_jobs_queued", {{"device", load.device}}, static_cast<double>(load.queued));
  text.family("assay_jobs_running", "gauge", "Jobs that a device runs.");
  for (const auto& load : state.loads)
    text.sample("assay_jobs_running", {{"device", load.device}}, static_cast<double>(load.running));
  text.family("assay_device_processes", "gauge", "Processes of a device, by kind.");
  for (const auto& load : state.loads) {
    for (const auto& [kind, count] : load.processes)
      text.sample("assay_device_processes", {{"device", load.device}, {"kind", kind}},
                  static_cast<double>(count));
  }
  text.gauge("assay_store_bytes", "Size of the files of the store.", store_bytes(state.store));
  text.gauge("assay_store_free_bytes", "Free space of the disk with the store.",
             free_bytes(state.store));
  text.gauge("assay_store_writable", "1 if the store can be written, otherwise 0.",
             state.store_writable ? 1 : 0);
  text.gauge("assay_draining", "1 if the server stops and accepts no new jobs, otherwise 0.",
             state.draining ? 1 : 0);
  text.gauge("assay_time_seconds", "The server's clock, in seconds since 1970.",
             static_cast<double>(clock.unix_ms()) / kMsPerSecondDouble);
}

}  // namespace assay::server
