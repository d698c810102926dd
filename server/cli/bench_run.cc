#include "server/cli/bench_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "reference_agents/agent/replay.h"
#include "server/cli/bench_progress.h"

namespace assay::server {
namespace {

using std::chrono::steady_clock;

/// After so many attempts in a row that could not be finished, a pair's model or the server is taken as gone.
constexpr int kMostFailuresInARow = 3;
/// How an attempt ends whose transcript had no reply for it.
constexpr const char* kNoReply = "no_reply";

struct Task {
  std::size_t pair = 0;
  std::int64_t sample = 1;
  std::string run;
  std::string operator_name;
  std::string name;  // for a person
  std::filesystem::path transcript;
};

Label label_of_attempt(const agents::Attempt& attempt) {
  if (attempt.outcome == "no_code" || attempt.outcome == "refused" || attempt.outcome == kNoReply) return Label::missing;
  return label_of(sandbox::outcome_from(attempt.outcome).value_or(sandbox::Outcome::error),
                  sandbox::error_kind_from(attempt.error_kind).value_or(sandbox::ErrorKind::none),
                  sandbox::stage_from(attempt.stage).value_or(sandbox::Stage::done), attempt.hints);
}

/// What a line says beside the label.
std::string explanation_of(const agents::Attempt& attempt, Label label, const std::string& replay) {
  const std::string prefix = attempt.outcome + ": ";
  std::string text = attempt.explanation.starts_with(prefix) ? attempt.explanation.substr(prefix.size()) : attempt.explanation;
  if (label == Label::slow) text = slow_hint(attempt.hints);
  return replay.empty() || attempt.outcome == kNoReply ? text : "replay: " + replay + "; " + text;
}

/// Errors that the pair's next attempt would meet as well.
bool is_hopeless(const Error& error) {
  return error.code == ErrorCode::permission_denied || error.code == ErrorCode::invalid_argument || error.code == ErrorCode::io;
}

/// The server must still know a run before anything is paid for in its name.
Status check_run(mcp::Client& client, const std::string& run) {
  const Result<mcp::ToolResult> answer = client.call_tool("scorecard", {{"run", run}});
  if (!answer) return fail(answer.error());
  if (answer->is_error)
    return fail(ErrorCode::not_found, "the server does not know run " + run + " of this bench (" + answer->text + "); start a bench in another --out");
  return {};
}

std::string task_name(const BenchPlan& plan, const BenchPair& pair, std::int64_t sample, const std::string& operator_name) {
  std::string name = operator_name;
  if (plan.samples > 1) name += " #" + std::to_string(sample);
  if (plan.pairs.size() > 1) name += ", " + pair.agent_name + ", " + pair.model_label;
  return name;
}

/// Sample by sample, operator by operator, and within that pair by pair: a bench that is stopped early has given each pair as much.
Result<std::vector<Task>> open_tasks(mcp::Client& client, const BenchPlan& plan, std::vector<PairEnd>& ends) {
  std::vector<Task> tasks;
  for (std::int64_t sample = 1; sample <= plan.samples; ++sample) {
    std::vector<const agents::RunHandle*> runs;
    for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
      const BenchPair& pair = plan.pairs[i];
      if (pair.journal->run_of(sample) == nullptr) {
        const Result<agents::RunHandle> opened = agents::start_run(client, {pair.agent_name, pair.model_label, pair.agent.entry->track, plan.suite});
        if (!opened) return fail(opened.error());
        if (Status written = pair.journal->add_run(sample, *opened); !written) return fail(written.error());
      }
      runs.push_back(pair.journal->run_of(sample));
      if (Status there = check_run(client, runs.back()->run); !there) return fail(there.error());
      ends[i].runs.push_back(runs.back()->run);
      ends[i].attempts += runs.back()->operators.size();
    }
    const auto longest = std::max_element(runs.begin(), runs.end(), [](const auto* a, const auto* b) { return a->operators.size() < b->operators.size(); });
    for (std::size_t at = 0; at < (*longest)->operators.size(); ++at) {
      for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
        if (at >= runs[i]->operators.size()) continue;
        const BenchPair& pair = plan.pairs[i];
        const std::string& name = runs[i]->operators[at];
        if (pair.journal->is_finished(sample, name)) continue;
        tasks.push_back({i, sample, runs[i]->run, name, task_name(plan, pair, sample, name), transcript_path(pair.directory, sample, name)});
      }
    }
  }
  return tasks;
}

/// What an earlier part of the bench paid: finished attempts, and replies whose attempts were cut short.
Result<double> spent_before(const BenchPlan& plan, const std::vector<Task>& tasks) {
  double spent = 0;
  for (const BenchPair& pair : plan.pairs) spent += pair.journal->spent_before_usd();
  const SystemClock clock;
  for (const Task& task : tasks) {
    const std::optional<agents::Price>& price = plan.pairs[task.pair].price;
    std::error_code error;
    if (!price || !std::filesystem::exists(task.transcript, error)) continue;
    const Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, clock);
    if (!transcript) return fail(transcript.error());
    for (const agents::CompletionReply& reply : transcript->earlier_replies()) spent += price->cost_usd(reply.input_tokens, reply.output_tokens);
  }
  return spent;
}

std::vector<ProgressGroup> progress_groups(const BenchPlan& plan, const std::vector<PairEnd>& ends) {
  std::vector<ProgressGroup> groups;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ProgressGroup group;
    group.total = ends[i].attempts;
    group.priced = plan.pairs[i].price.has_value();
    for (const auto& [which, end] : plan.pairs[i].journal->finished_before()) {
      ++group.done;
      group.good += end.outcome == "pass" ? 1 : 0;
      group.cost_usd += end.cost_usd;
      group.timed += end.wall_ms > 0 ? 1 : 0;
      group.wall_s += end.wall_ms / 1e3;
    }
    groups.push_back(group);
  }
  return groups;
}

class Workers {
 public:
  Workers(mcp::Client& client, agents::Purse& purse, BenchProgress& progress, const BenchPlan& plan, const std::vector<Task>& tasks, std::vector<PairEnd>& ends)
      : client_(client), purse_(purse), progress_(progress), plan_(plan), tasks_(tasks), ends_(ends), failures_in_a_row_(ends.size(), 0) {
    for (const Task& task : tasks) ++ends_[task.pair].unfinished;
  }

  void run() {
    std::vector<std::thread> threads;
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(plan_.jobs), tasks_.size());
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void work() {
    for (std::size_t index = next_++; index < tasks_.size(); index = next_++) {
      if (may_start(tasks_[index].pair)) attempt(tasks_[index]);
    }
  }

  bool may_start(std::size_t pair) {
    const std::lock_guard lock(mutex_);
    if (plan_.max_time && steady_clock::now() - start_ >= *plan_.max_time)
      stop_all("the time limit of " + duration_text(static_cast<double>(plan_.max_time->count())));
    return ends_[pair].stopped_by.empty();
  }

  void attempt(const Task& task) {
    const BenchPair& pair = plan_.pairs[task.pair];
    const auto begin = steady_clock::now();
    Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, clock_);
    if (!transcript) return gave_up(task, transcript.error());
    agents::AttemptRequest request;
    request.run = task.run;
    request.operator_name = task.operator_name;
    request.sample = task.sample;
    request.data_dir = plan_.agents_dir;
    request.step = [&](const std::string& step) { progress_.step(task.name, step); };
    std::string replay;
    const Result<agents::Attempt> ended = pair.model == nullptr ? replayed(pair, task, *transcript, request, replay) : asked(pair, *transcript, request);
    if (!ended) return gave_up(task, ended.error());
    const double wall_s = std::chrono::duration<double>(steady_clock::now() - begin).count();
    if (Status written = pair.journal->add_finished(task.sample, task.operator_name, *ended, std::round(1e3 * wall_s), replay); !written)
      return gave_up(task, written.error());
    const Label label = label_of_attempt(*ended);
    progress_.finished(task.pair, task.name, label, explanation_of(*ended, label, replay), ended->cost_usd, wall_s);
    const std::lock_guard lock(mutex_);
    --ends_[task.pair].unfinished;
    failures_in_a_row_[task.pair] = 0;
  }

  Result<agents::Attempt> asked(const BenchPair& pair, agents::Transcript& transcript, const agents::AttemptRequest& request) {
    agents::MeteredClient metered(*pair.model, pair.price, purse_);
    return agents::attempt_operator(pair.agent, client_, metered, transcript, request);
  }

  /// The recorded replies in the place of the model. `how`: in which the attempt differs from the recorded one.
  Result<agents::Attempt> replayed(const BenchPair& pair, const Task& task, agents::Transcript& transcript, const agents::AttemptRequest& request,
                                   std::string& how) {
    Result<agents::RecordedReplies> replies =
        agents::RecordedReplies::load(transcript_path(pair.recorded, task.sample, task.operator_name), task.transcript, pair.model_label);
    if (!replies) return fail(replies.error());
    agents::MeteredClient metered(*replies, std::nullopt, agents::Spending{});
    Result<agents::Attempt> ended = agents::attempt_operator(pair.agent, client_, metered, transcript, request);
    if (!ended && !replies->refused()) return ended;
    const Result<std::string> deviation = replies->deviation();
    if (!deviation) return fail(deviation.error());
    how = *deviation;
    if (ended) return ended;
    agents::Attempt end;
    end.outcome = kNoReply;
    end.explanation = "replay: " + how;
    return end;
  }

  void gave_up(const Task& task, const Error& error) {
    progress_.unfinished(task.name, error.message);
    const std::lock_guard lock(mutex_);
    PairEnd& end = ends_[task.pair];
    if (purse_.limit_reached() || error.code == ErrorCode::io) return stop_all(error.message);  // a full disk is everyone's
    if (!is_hopeless(error) && ++failures_in_a_row_[task.pair] < kMostFailuresInARow) return;
    if (end.stopped_by.empty()) end.stopped_by = error.message;
  }

  /// Under the lock.
  void stop_all(const std::string& why) {
    for (PairEnd& end : ends_) {
      if (end.stopped_by.empty()) end.stopped_by = why;
    }
  }

  mcp::Client& client_;
  agents::Purse& purse_;
  BenchProgress& progress_;
  const BenchPlan& plan_;
  const std::vector<Task>& tasks_;
  const SystemClock clock_;
  const steady_clock::time_point start_ = steady_clock::now();
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::vector<PairEnd>& ends_;
  std::vector<int> failures_in_a_row_;  // by pair
};

}  // namespace

std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample, const std::string& operator_name) {
  return directory / "transcripts" / (operator_name + "." + std::to_string(sample) + ".jsonl");
}

Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan) {
  std::vector<PairEnd> ends(plan.pairs.size());
  const Result<std::vector<Task>> tasks = open_tasks(client, plan, ends);
  if (!tasks) return fail(tasks.error());
  const Result<double> spent = spent_before(plan, *tasks);
  if (!spent) return fail(spent.error());
  agents::Purse purse({plan.max_cost_usd, *spent});
  BenchProgress progress(stderr, ::isatty(STDERR_FILENO) == 1, progress_groups(plan, ends), plan.jobs);
  Workers(client, purse, progress, plan, *tasks, ends).run();
  return ends;
}

}  // namespace assay::server
