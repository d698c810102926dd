// The options of `assay bench`, and the checks that need neither a server nor a model. Pure
// functions, except that replay_directory() resolves links of the file system.
//
//   if (Status valid = check_options(options); !valid) return fail(valid.error());
//   Result<std::string> suite = suite_of(options, &catalog);  // "all", "ood", "relu,softmax"
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "server/app/option_groups.h"

namespace assay::bench {

struct BenchOptions {
  std::vector<std::string> agents = {"one_shot"};  // each NAME or NAME?option=value&...
  std::vector<std::string> models;  // each PROVIDER:NAME; every agent runs with every model
  std::string track;                // empty: each agent's own
  std::string split;                // empty: all
  std::string operators;            // comma-separated; empty: all of the split
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  bool resume = false;
  std::string device = "cpu";  // of the server that the bench starts; not with --server
  std::string store;
  server::SandboxOptions sandbox;
  server::LogOptions log{.level = "warning"};  // of the bench and of the server that it starts
  std::string server;                          // URL of a running server; empty: start one
  std::optional<double> max_cost_usd;
  std::string max_time;  // duration_from() reads it; empty: no limit
  std::string replay;    // folder of a bench whose transcripts replace the models; empty: none
  std::string out;       // directory; empty: see bench_directory() and replay_directory()
};

inline constexpr std::int64_t kMostBenchJobs = 256;
inline constexpr std::int64_t kMostBenchSamples = 1'000;
inline constexpr std::int64_t kMostBenchSeconds = 30 * 24 * 3'600;

/// Returns the suite as `start_run` takes it: "all", a split, or a list. `answerable` lists the
/// only operators that the model can answer; they are then the default. It is empty if the model
/// can answer any. `catalog` is null with --server, because that server has the operators. Errors:
/// not_found for unknown names (the message lists the valid ones), invalid_argument for
/// contradictions.
Result<std::string> suite_of(const BenchOptions& options, const operators::Catalog* catalog,
                             const std::vector<std::string>& answerable = {});

/// Checks the options that can be checked alone. Errors: not_found for an unknown device or track,
/// invalid_argument for the rest.
Status check_options(const BenchOptions& options);

/// Returns the seconds of "90", "90s", "15m", "2h" or "1h30m". Error: invalid_argument for any
/// other text, for 0, and for more than kMostBenchSeconds.
Result<std::int64_t> duration_from(const std::string& text);

/// Returns the folder for journal and transcripts of one agent with one model: --out, or
/// bench-out/AGENT_PROVIDER_NAME. With several pairs, --out contains a folder of that name for
/// each.
std::filesystem::path bench_directory(const BenchOptions& options, const std::string& agent,
                                      const std::string& model);

/// Returns the folder of a replay: --out, or the recorded folder's name plus ".replay". Error:
/// invalid_argument, if it lies in the recorded folder or contains it.
Result<std::filesystem::path> replay_directory(const BenchOptions& options);

}  // namespace assay::bench
