// What a bench is to do, once everything is chosen and opened, and how each of its pairs of agent
// and model ended. Values.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/prices.h"
#include "reference_agents/registry/agents.h"
#include "server/bench/journal.h"

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
  std::string track = {};          // of its runs
};

struct BenchPlan {
  std::vector<BenchPair> pairs;
  std::filesystem::path agents_dir;  // reference_agents/ of the source tree
  std::string suite;
  std::int64_t samples = 1;
  std::int64_t jobs = 1;
  std::optional<double> max_cost_usd;  // over all pairs
  std::optional<std::chrono::seconds>
      max_time;  // of this part of the bench: later no attempt starts
};

/// How one pair ended.
struct PairEnd {
  std::vector<std::string> runs;  // one per sample
  std::size_t attempts = 0;       // in all, finished or not
  std::size_t unfinished = 0;
  std::string stopped_by;  // why its rest was not tried; empty when all was
};

}  // namespace assay::server
