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
#include "reference_agents/llm/metered.h"
#include "server/cli/bench_progress.h"
#include "server/cli/bench_tasks.h"

namespace assay::server {
namespace {

using std::chrono::steady_clock;

/// After so many attempts in a row that could not be finished, or whose prompts were refused, a pair's model or the server is taken as gone.
constexpr int kMostFailuresInARow = 3;

Label label_of_attempt(const agents::Attempt& attempt) {
  const bool not_submitted =
      attempt.outcome == "no_code" || attempt.outcome == "refused" || attempt.outcome == kNoReply || attempt.error_kind == agents::kPromptRefused;
  if (not_submitted) return Label::missing;
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

class Workers {
 public:
  Workers(mcp::Client& client, agents::Purse& purse, BenchProgress& progress, const BenchPlan& plan, const std::vector<BenchTask>& tasks,
          std::vector<PairEnd>& ends)
      : client_(client), purse_(purse), progress_(progress), plan_(plan), tasks_(tasks), ends_(ends), failures_in_a_row_(ends.size(), 0) {
    for (const BenchTask& task : tasks) ++ends_[task.pair].unfinished;
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

  void attempt(const BenchTask& task) {
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
    progress_.finished(task.pair, task.name, label, explanation_of(*ended, label, replay), ended->cost_known ? std::optional(ended->cost_usd) : std::nullopt,
                       wall_s);
    const std::lock_guard lock(mutex_);
    --ends_[task.pair].unfinished;
    // An endpoint that refuses one prompt after another may mean none of them: it is not given the whole suite to refuse.
    if (ended->error_kind == agents::kPromptRefused) return failed_in_a_row(task.pair, ended->explanation);
    failures_in_a_row_[task.pair] = 0;
  }

  /// Under the lock.
  void failed_in_a_row(std::size_t pair, const std::string& why) {
    if (++failures_in_a_row_[pair] >= kMostFailuresInARow && ends_[pair].stopped_by.empty()) ends_[pair].stopped_by = why;
  }

  Result<agents::Attempt> asked(const BenchPair& pair, agents::Transcript& transcript, const agents::AttemptRequest& request) {
    agents::MeteredClient metered(*pair.model, pair.price, purse_);
    return agents::attempt_operator(pair.agent, client_, metered, transcript, request);
  }

  /// The recorded replies in the place of the model. `how`: in which the attempt differs from the recorded one.
  Result<agents::Attempt> replayed(const BenchPair& pair, const BenchTask& task, agents::Transcript& transcript, const agents::AttemptRequest& request,
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

  void gave_up(const BenchTask& task, const Error& error) {
    progress_.unfinished(task.name, error.message);
    const std::lock_guard lock(mutex_);
    PairEnd& end = ends_[task.pair];
    if (purse_.limit_reached() || error.code == ErrorCode::io) return stop_all(error.message);  // a full disk is everyone's
    if (!is_hopeless(error)) return failed_in_a_row(task.pair, error.message);
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
  const std::vector<BenchTask>& tasks_;
  const SystemClock clock_;
  const steady_clock::time_point start_ = steady_clock::now();
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::vector<PairEnd>& ends_;
  std::vector<int> failures_in_a_row_;  // by pair
};

}  // namespace

Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan) {
  std::vector<PairEnd> ends(plan.pairs.size());
  const Result<std::vector<BenchTask>> tasks = open_tasks(client, plan, ends);
  if (!tasks) return fail(tasks.error());
  const Result<double> spent = spent_before(plan, *tasks);
  if (!spent) return fail(spent.error());
  agents::Purse purse({plan.max_cost_usd, *spent});
  BenchProgress progress(stderr, ::isatty(STDERR_FILENO) == 1, progress_groups(plan, ends), plan.jobs);
  Workers(client, purse, progress, plan, *tasks, ends).run();
  return ends;
}

}  // namespace assay::server
