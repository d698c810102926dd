// The work of a bench: opens the runs of every pair of agent and model, lets `jobs` threads take one attempt after another, and journals each end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reference_agents/agent/agents.h"
#include "reference_agents/llm/metered.h"
#include "server/cli/bench_journal.h"
#include "server/mcp/client.h"

namespace assay::server {

/// One agent with one model. What it points to outlives the bench.
struct BenchPair {
  std::string agent_name;   // as it was given, for the scorecard
  std::string model_label;  // as the scorecard shows it
  agents::AgentChoice agent;
  agents::LlmClient* model = nullptr;  // null in a replay
  std::optional<agents::Price> price;
  std::filesystem::path directory;  // of journal and transcripts
  BenchJournal* journal = nullptr;
  std::filesystem::path recorded;  // of a replay: the folder whose transcripts answer
};

struct BenchPlan {
  std::vector<BenchPair> pairs;
  std::filesystem::path agents_dir;  // reference_agents/ of the source tree
  std::string suite;
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  std::optional<double> max_cost_usd;            // over all pairs
  std::optional<std::chrono::seconds> max_time;  // of this part of the bench: later no attempt starts
};

/// How one pair ended.
struct PairEnd {
  std::vector<std::string> runs;  // one per sample
  std::size_t attempts = 0;       // in all, finished or not
  std::size_t unfinished = 0;
  std::string stopped_by;  // why its rest was not tried; empty when all was
};

/// As many as there are pairs, in their order. An Error means that nothing could be started.
Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan);

/// DIRECTORY/transcripts/OPERATOR.SAMPLE.jsonl
std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample, const std::string& operator_name);

}  // namespace assay::server
