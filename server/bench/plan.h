// Decides what a bench runs: which agents, with which models, over which operators. The command
// line or a recorded bench determines this. The file's functions also open one journal for each
// pair of an agent and a model. None of the functions calls a model.
//
//   Result<BenchPlan> plan = chosen_pairs(options, &catalog, agents_dir);
//   Status priced = find_prices(*plan, options);
//   Status opened = open_journals(*plan, options, store);
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/spending.h"
#include "reference_agents/registry/agents.h"
#include "server/bench/journal.h"
#include "server/bench/options.h"

namespace assay::bench {

inline constexpr std::size_t kMostBenchPairs = 64;

/// A model, with its price if prices.toml lists the model.
struct BenchModel {
  std::string name;  // PROVIDER:NAME
  std::unique_ptr<agents::LlmClient> client;
  std::optional<agents::Price> price;
};

/// A pair of an agent and a model.
struct BenchPair {
  std::string agent_name;  // the name on the command line, used in the scorecard
  agents::AgentChoice agent;
  std::string model_name;           // the name in the journal
  std::string model_label;          // the name in the scorecard
  BenchModel* model = nullptr;      // an element of BenchPlan::models; null in a replay
  std::filesystem::path directory;  // the folder of the journal and the transcripts
  std::filesystem::path recorded;   // in a replay: the folder with the recorded transcripts
  std::string chosen_track = {};    // the value of --track; empty: the agent's default track
  std::unique_ptr<BenchJournal> journal = nullptr;  // null until open_journals()

  /// Returns the track of the pair's runs.
  const std::string& track() const {
    return chosen_track.empty() ? agent.entry->track : chosen_track;
  }
};

struct BenchPlan {
  std::vector<std::unique_ptr<BenchModel>> models;
  std::vector<BenchPair> pairs;
  std::filesystem::path agents_dir;  // the folder reference_agents/ of the source tree
  std::string suite;
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  std::optional<double> max_cost_usd;  // the spending limit over all pairs
  /// After this duration, no further attempt starts. The duration is counted from the start of this
  /// process, so a resumed bench has the full duration again.
  std::optional<std::chrono::seconds> max_time;
};

/// The result of the bench for one pair.
struct PairEnd {
  std::vector<std::string> runs;  // one run for each sample
  std::size_t attempts = 0;       // the number of all attempts, finished or not
  std::size_t unfinished = 0;
  /// The reason why the remaining attempts were not started. Empty if all attempts were started.
  std::string stopped_by;
};

/// Combines every agent with every model. The pairs are sorted by agent. `catalog` is null with
/// --server. Errors: not_found if a name is unknown; permission_denied if a key is missing;
/// invalid_argument for all other problems, including a name that is given twice.
Result<BenchPlan> chosen_pairs(const BenchOptions& options, const operators::Catalog* catalog,
                               const std::filesystem::path& agents_dir);

/// Returns a plan with the pairs of the bench that --replay names. Errors: the errors of
/// find_recorded(), replay_directory() and agents::parse_agent().
Result<BenchPlan> recorded_pairs(const BenchOptions& options,
                                 const std::filesystem::path& agents_dir);

/// Looks up the prices of the models. A model that prices.toml does not list has no price, and a
/// message on stderr names the model. Errors: invalid_argument if there is a spending limit and a
/// model has no price, because the limit could not be enforced; corrupt or io if the file is
/// damaged or missing.
Status find_prices(BenchPlan& plan, const BenchOptions& options);

/// Opens the journal of each pair. Creates a journal that is missing. When a bench is resumed, a
/// pair has no journal if the bench was killed before it began this pair. Errors: the errors of
/// BenchJournal::open().
Status open_journals(BenchPlan& plan, const BenchOptions& options,
                     const std::filesystem::path& store);

/// Prints the pairs and their folders to stderr.
void announce_pairs(const BenchPlan& plan);

}  // namespace assay::bench
