// Defines the options of `assay bench`, and the checks that need neither a server nor a model. The
// functions are pure, except replay_directory(), which resolves links of the file system.
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
#include "reference_agents/llm/spending.h"
#include "sandbox/device/choose_device.h"
#include "server/app/option_groups.h"

namespace assay::bench {

struct BenchOptions {
  /// The agents. Each has the form NAME or NAME?option=value&...
  std::vector<std::string> agents = {"one_shot"};
  /// The models. Each has the form PROVIDER:NAME. Every agent runs with every model.
  std::vector<std::string> models;
  std::string track;  // empty: each agent's default track
  std::string split;  // empty: all splits
  std::string suite;  // a folder of operators instead of Assay's own; empty: Assay's own
  std::vector<std::string> prices;  // texts that price_from() parses
  std::string operators;            // comma-separated; empty: all operators of the split
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  bool resume = false;
  /// The device of the server that the bench starts, or `auto`. Unused with --server.
  std::string device = sandbox::kAutoDevice;
  std::string store;
  server::SandboxOptions sandbox;
  server::LogOptions log{.level =
                             "warning"};  // the log of the bench and of the server that it starts
  std::string server;                     // the URL of a running server; empty: start a server
  std::optional<double> max_cost_usd;
  std::string max_time;  // a text that duration_from() parses; empty: no limit
  /// The folder of a recorded bench. Its transcripts replace the models. Empty: no replay.
  std::string replay;
  /// The output directory. Empty: the default of bench_directory() or replay_directory().
  std::string out;
};

inline constexpr std::int64_t kMostBenchJobs = 256;
inline constexpr std::int64_t kMostBenchSamples = 1'000;
inline constexpr std::int64_t kMostBenchSeconds = 30 * 24 * 3'600;

/// Returns the suite in the form that `start_run` accepts: "all", a split, or a list. `answerable`
/// lists the operators for which the model has answers. It is empty if the model can answer for any
/// operator. Without --operators, the suite is the list of those operators of `answerable` that are
/// in the catalog and in the chosen split. If there are none, the suite is the chosen split, or
/// "all" if no split is chosen. `catalog` is null with --server, because only that server knows its
/// operators. Errors: not_found if a name is unknown, and the message lists the valid names;
/// invalid_argument if options contradict each other.
Result<std::string> suite_of(const BenchOptions& options, const operators::Catalog* catalog,
                             const std::vector<std::string>& answerable = {});

/// Checks the options that can be checked without other information. Errors: not_found if a device
/// or track is unknown; invalid_argument for all other problems.
Status check_options(const BenchOptions& options);

/// The value of --price: the price of one model, or of all models if `model` is empty.
struct GivenPrice {
  std::string model;  // PROVIDER:NAME
  agents::Price price;
};

/// Parses "IN,OUT" or "PROVIDER:NAME=IN,OUT", in US dollars per million tokens. Error:
/// invalid_argument.
Result<GivenPrice> price_from(const std::string& text);

/// Returns the seconds of a text that seconds_from() in base/units.h reads. Error: invalid_argument
/// for any other text, and for more than kMostBenchSeconds.
Result<std::int64_t> duration_from(const std::string& text);

/// Returns the folder for the journal and the transcripts of one agent with one model. The folder
/// is --out; if --out is not set, it is bench-out/AGENT_PROVIDER_NAME. If there are several pairs
/// of agent and model, --out contains a folder AGENT_PROVIDER_NAME for each pair.
std::filesystem::path bench_directory(const BenchOptions& options, const std::string& agent,
                                      const std::string& model);

/// Returns the folder for a replay: --out, or the recorded folder's name plus ".replay" if --out is
/// not set. Error: invalid_argument if the folder is inside the recorded folder or contains it.
Result<std::filesystem::path> replay_directory(const BenchOptions& options);

}  // namespace assay::bench
