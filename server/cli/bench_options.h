// What `assay bench` was asked to do, checked before anything is started or paid for. Values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::server {

struct BenchOptions {
  std::string agent = "one_shot";  // NAME or NAME?option=value&...
  std::string model;      // PROVIDER:NAME
  std::string split;      // empty: all
  std::string operators;  // comma-separated; empty: all of the split
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  bool resume = false;
  std::string device = "cpu";  // of the server that is started; not with --server
  std::string store;
  std::string isolation = "best-effort";
  std::string server;  // URL of a running server; empty: start one
  std::optional<double> max_cost_usd;
  std::string out;  // directory; empty: bench-out/AGENT_PROVIDER_NAME
};

inline constexpr std::int64_t kMostBenchJobs = 256;
inline constexpr std::int64_t kMostBenchSamples = 1'000;

/// The suite as `start_run` takes it: "all", a split, or a list. Errors: not_found for unknown names (naming the valid ones), invalid_argument
/// for contradictions. `answerable`: the only operators that the model can answer, which are the default then; empty: it can answer any. `catalog` is null with --server: that server knows its operators.
Result<std::string> suite_of(const BenchOptions& options, const operators::Catalog* catalog, const std::vector<std::string>& answerable = {});

/// not_found for a name that is no device; whether the device is there is the server's to say.
Status check_device_name(const std::string& device);

std::filesystem::path bench_directory(const BenchOptions& options);

}  // namespace assay::server
