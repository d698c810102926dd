#include "server/bench/tasks.h"

#include <algorithm>
#include <system_error>

#include "base/clock.h"
#include "reference_agents/core/run.h"
#include "reference_agents/core/transcript.h"

namespace assay::server {
namespace {

/// The server must still know a run before anything is paid for in its name.
Status check_run(mcp::Client& client, const std::string& run) {
  const Result<mcp::ToolResult> answer = client.call_tool("scorecard", {{"run", run}});
  if (!answer) return fail(answer.error());
  if (answer->is_error)
    return fail(ErrorCode::not_found, "the server does not know run " + run + " of this bench (" +
                                          answer->text + "); start a bench in another --out");
  return {};
}

std::string task_name(const BenchPlan& plan, const BenchPair& pair, std::int64_t sample,
                      const std::string& operator_name) {
  std::string name = operator_name;
  if (plan.samples > 1) name += " #" + std::to_string(sample);
  if (plan.pairs.size() > 1) name += ", " + pair.agent_name + ", " + pair.model_label;
  return name;
}

}  // namespace

std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample,
                                      const std::string& operator_name) {
  return directory / "transcripts" / (operator_name + "." + std::to_string(sample) + ".jsonl");
}

Result<std::vector<BenchTask>> open_tasks(mcp::Client& client, const BenchPlan& plan,
                                          std::vector<PairEnd>& ends) {
  std::vector<BenchTask> tasks;
  for (std::int64_t sample = 1; sample <= plan.samples; ++sample) {
    std::vector<const agents::RunHandle*> runs;
    for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
      const BenchPair& pair = plan.pairs[i];
      if (pair.journal->run_of(sample) == nullptr) {
        const Result<agents::RunHandle> opened =
            agents::start_run(client, {pair.agent_name, pair.model_label, pair.track, plan.suite});
        if (!opened) return fail(opened.error());
        if (Status written = pair.journal->add_run(sample, *opened); !written)
          return fail(written.error());
      }
      runs.push_back(pair.journal->run_of(sample));
      if (Status there = check_run(client, runs.back()->run); !there) return fail(there.error());
      ends[i].runs.push_back(runs.back()->run);
      ends[i].attempts += runs.back()->operators.size();
    }
    const auto longest = std::max_element(
        runs.begin(), runs.end(),
        [](const auto* a, const auto* b) { return a->operators.size() < b->operators.size(); });
    for (std::size_t at = 0; at < (*longest)->operators.size(); ++at) {
      for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
        if (at >= runs[i]->operators.size()) continue;
        const BenchPair& pair = plan.pairs[i];
        const std::string& name = runs[i]->operators[at];
        if (pair.journal->is_finished(sample, name)) continue;
        tasks.push_back({i, sample, runs[i]->run, name, task_name(plan, pair, sample, name),
                         transcript_path(pair.directory, sample, name)});
      }
    }
  }
  return tasks;
}

Result<double> spent_before(const BenchPlan& plan, const std::vector<BenchTask>& tasks) {
  double spent = 0;
  for (const BenchPair& pair : plan.pairs) spent += pair.journal->spent_before_usd();
  const SystemClock clock;
  for (const BenchTask& task : tasks) {
    const std::optional<agents::Price>& price = plan.pairs[task.pair].price;
    std::error_code error;
    if (!price || !std::filesystem::exists(task.transcript, error)) continue;
    const Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, clock);
    if (!transcript) return fail(transcript.error());
    for (const agents::CompletionReply& reply : transcript->earlier_replies())
      spent += reply.charged_usd.value_or(price->cost_usd(reply.input_tokens, reply.output_tokens));
  }
  return spent;
}

std::vector<ProgressGroup> progress_groups(const BenchPlan& plan,
                                           const std::vector<PairEnd>& ends) {
  std::vector<ProgressGroup> groups;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ProgressGroup group;
    group.total = ends[i].attempts;
    group.priced = plan.pairs[i].price.has_value();
    for (const auto& [which, end] : plan.pairs[i].journal->finished_before()) {
      ++group.done;
      group.good += end.outcome == "pass" ? 1 : 0;
      group.priced = group.priced && end.cost_usd.has_value();
      group.cost_usd += end.cost_usd.value_or(0);
      group.timed += end.wall_ms > 0 ? 1 : 0;
      group.wall_s += end.wall_ms / 1e3;
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace assay::server
