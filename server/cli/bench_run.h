// The work of a bench: opens the runs, lets `jobs` threads take one attempt after another, and journals each end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_agents/agent/agents.h"
#include "reference_agents/llm/metered.h"
#include "server/cli/bench_journal.h"
#include "server/mcp/client.h"

namespace assay::server {

struct BenchPlan {
  std::filesystem::path directory;
  std::filesystem::path agents_dir;  // reference_agents/ of the source tree
  std::string agent_name;            // as it was given, for the scorecard
  agents::AgentChoice agent;
  std::string suite;
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  bool priced = false;  // the model's price is known
};

struct BenchEnd {
  std::vector<std::string> runs;  // one per sample
  std::size_t attempts = 0;       // in all, finished or not
  std::size_t unfinished = 0;
  std::string stopped_by;  // why the rest was not tried; empty when all was
};

/// An Error means that nothing could be started.
Result<BenchEnd> run_bench(mcp::Client& client, agents::LlmClient& model, const std::optional<agents::Price>& price, std::optional<double> max_cost_usd,
                           BenchJournal& journal, const BenchPlan& plan);

}  // namespace assay::server
