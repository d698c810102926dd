// Which agents run with which models, and over what: from the command line, or from a recorded
// bench. Nothing is started or paid for yet.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/prices.h"
#include "reference_agents/registry/agents.h"
#include "server/bench/options.h"

namespace assay::server {

inline constexpr std::size_t kMostBenchPairs = 64;

/// One of the models, with its price where it has one.
struct BenchModel {
  std::string name;  // PROVIDER:NAME
  std::unique_ptr<agents::LlmClient> client;
  std::optional<agents::Price> price;
};

struct ChosenPair {
  std::string agent_name;
  agents::AgentChoice agent;
  std::string model_name;       // for the journal
  std::string model_label;      // for the scorecard
  BenchModel* model = nullptr;  // null in a replay
  std::filesystem::path directory;
  std::filesystem::path recorded;  // of a replay
  std::string track = {};          // empty: the agent's own
};

struct BenchSetup {
  std::vector<std::unique_ptr<BenchModel>> models;
  std::vector<ChosenPair> pairs;
  std::string suite;
  std::int64_t samples = 1;
};

/// Every agent with every model, agents outermost. not_found for unknown names, permission_denied
/// for a missing key, invalid_argument for the rest (also for what is given twice). `catalog`: null
/// with --server. `agents_dir`: reference_agents/ of the source tree.
Result<BenchSetup> chosen_pairs(const BenchOptions& options, const operators::Catalog* catalog,
                                const std::filesystem::path& agents_dir);

/// The pairs of the bench that --replay names. Errors: those of find_recorded().
Result<BenchSetup> recorded_pairs(const BenchOptions& options);

/// Looks prices up. Nothing for providers without a model and for models that prices.toml does not
/// list, about which it tells on stderr; invalid_argument when there is a spending limit that could
/// not be kept, corrupt or io when the file is broken or gone.
Status find_prices(BenchSetup& setup, const BenchOptions& options,
                   const std::filesystem::path& agents_dir);

}  // namespace assay::server
