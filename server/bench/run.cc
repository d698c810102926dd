#include "server/bench/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "reference_agents/llm/spending_budget.h"
#include "server/bench/attempt.h"
#include "server/bench/progress.h"
#include "server/bench/tasks.h"

namespace assay::server {
namespace {

using std::chrono::steady_clock;

/// After so many attempts in a row that could not be finished, or whose prompts were refused, a
/// pair's model or the server is taken as gone.
constexpr int kMostFailuresInARow = 3;

/// Errors that the pair's next attempt would meet as well.
bool is_hopeless(const Error& error) {
  return error.code == ErrorCode::permission_denied || error.code == ErrorCode::invalid_argument ||
         error.code == ErrorCode::io;
}

class Workers {
 public:
  Workers(mcp::Client& client, agents::SpendingBudget& purse, BenchProgress& progress,
          const BenchPlan& plan, const std::vector<BenchTask>& tasks, std::vector<PairEnd>& ends)
      : client_(client),
        purse_(purse),
        progress_(progress),
        plan_(plan),
        tasks_(tasks),
        ends_(ends),
        failures_in_a_row_(ends.size(), 0) {
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
    const Result<BenchAttempt> made =
        make_attempt(client_, purse_, plan_, task,
                     [&](const std::string& step) { progress_.step(task.name, step); });
    if (!made) return gave_up(task, made.error());
    const agents::Attempt& end = made->end;
    const double wall_s = std::chrono::duration<double>(steady_clock::now() - begin).count();
    if (Status written = pair.journal->add_finished(task.sample, task.operator_name, end,
                                                    std::round(1e3 * wall_s), made->replay);
        !written)
      return gave_up(task, written.error());
    progress_.finished(task.pair, task.name, label_of(end), explanation_of(*made),
                       end.cost_known ? std::optional(end.cost_usd) : std::nullopt, wall_s);
    const std::lock_guard lock(mutex_);
    --ends_[task.pair].unfinished;
    // An endpoint that refuses one prompt after another may mean none of them: it is not given the
    // whole suite to refuse.
    if (end.error_kind == agents::kPromptRefused)
      return failed_in_a_row(task.pair, end.explanation);
    failures_in_a_row_[task.pair] = 0;
  }

  /// Under the lock.
  void failed_in_a_row(std::size_t pair, const std::string& why) {
    if (++failures_in_a_row_[pair] >= kMostFailuresInARow && ends_[pair].stopped_by.empty())
      ends_[pair].stopped_by = why;
  }

  void gave_up(const BenchTask& task, const Error& error) {
    progress_.unfinished(task.name, error.message);
    const std::lock_guard lock(mutex_);
    PairEnd& end = ends_[task.pair];
    if (purse_.limit_reached() || error.code == ErrorCode::io)
      return stop_all(error.message);  // a full disk is everyone's
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
  agents::SpendingBudget& purse_;
  BenchProgress& progress_;
  const BenchPlan& plan_;
  const std::vector<BenchTask>& tasks_;
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
  agents::SpendingBudget purse({plan.max_cost_usd, *spent});
  BenchProgress progress(stderr, ::isatty(STDERR_FILENO) == 1, progress_groups(plan, ends),
                         plan.jobs);
  Workers(client, purse, progress, plan, *tasks, ends).run();
  return ends;
}

}  // namespace assay::server
