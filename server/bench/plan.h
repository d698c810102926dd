// Decides what a bench runs: which agents with which models over which operators, from the command
// line or from a recorded bench, and opens one journal for each pair. No model is called yet.
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

/// One model, with its price if prices.toml lists it.
struct BenchModel {
  std::string name;  // PROVIDER:NAME
  std::unique_ptr<agents::LlmClient> client;
  std::optional<agents::Price> price;
};

/// One agent with one model.
struct BenchPair {
  std::string agent_name;  // as on the command line, for the scorecard
  agents::AgentChoice agent;
  std::string model_name;           // as the journal names it
  std::string model_label;          // as the scorecard shows it
  BenchModel* model = nullptr;      // one of BenchPlan::models; null in a replay
  std::filesystem::path directory;  // journal and transcripts
  std::filesystem::path recorded;   // in a replay: the folder whose transcripts answer
  std::string chosen_track = {};    // --track; empty: the agent's own
  std::unique_ptr<BenchJournal> journal = nullptr;  // null until open_journals()

  /// Returns the track of the pair's runs.
  const std::string& track() const {
    return chosen_track.empty() ? agent.entry->track : chosen_track;
  }
};

struct BenchPlan {
  std::vector<std::unique_ptr<BenchModel>> models;
  std::vector<BenchPair> pairs;
  std::filesystem::path agents_dir;  // reference_agents/ of the source tree
  std::string suite;
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  std::optional<double> max_cost_usd;  // over all pairs
  /// No attempt starts after this time. It counts from the start of this process, so a resumed
  /// bench has the whole time again.
  std::optional<std::chrono::seconds> max_time;
};

/// The end of one pair.
struct PairEnd {
  std::vector<std::string> runs;  // one per sample
  std::size_t attempts = 0;       // all, finished or not
  std::size_t unfinished = 0;
  std::string stopped_by;  // why the remaining attempts were not tried; empty if all were
};

/// Pairs every agent with every model, agent by agent. `catalog` is null with --server. Errors:
/// not_found for unknown names, permission_denied for a missing key, invalid_argument for the rest
/// (also for a name that is given twice).
Result<BenchPlan> chosen_pairs(const BenchOptions& options, const operators::Catalog* catalog,
                               const std::filesystem::path& agents_dir);

/// Returns the pairs of the bench that --replay names. Errors: those of find_recorded().
Result<BenchPlan> recorded_pairs(const BenchOptions& options,
                                 const std::filesystem::path& agents_dir);

/// Looks up the prices of the models. A model that prices.toml does not list gets no price, and a
/// message on stderr names it. Errors: invalid_argument, such a model has a spending limit, which
/// could not be kept; corrupt or io, the file is broken or missing.
Status find_prices(BenchPlan& plan, const BenchOptions& options);

/// Opens the journal of each pair. If an earlier part of the bench was killed before some pairs
/// began, these begin now. Errors: those of BenchJournal::open().
Status open_journals(BenchPlan& plan, const BenchOptions& options,
                     const std::filesystem::path& store);

/// Names the pairs and their folders on stderr.
void announce_pairs(const BenchPlan& plan);

}  // namespace assay::bench
