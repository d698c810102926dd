#include "server/bench/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/core/replay.h"
#include "reference_agents/core/transcript.h"
#include "reference_agents/llm/spending.h"
#include "reference_agents/registry/agents.h"
#include "reference_agents/registry/provider.h"
#include "server/bench/progress.h"
#include "server/report/model/format.h"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;

using report::Label;

constexpr const char* kTokenVariable = "ASSAY_TOKEN";
constexpr double kNsPerS = 1e9;

/// Starts this executable as a server, which ends when its standard input ends. First removes the
/// API keys of the models from the environment, because the server does not need them.
Result<std::unique_ptr<mcp::Client>> start_server(const BenchOptions& options,
                                                  const fs::path& store) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::unavailable, "readlink /proc/self/exe: " + error.message());
  std::vector<std::string> command = {self.string(),  "serve",   "--stdio",      "--device",
                                      options.device, "--store", store.string(), "--require-store"};
  const std::vector<std::string> sandbox = server::arguments_of(options.sandbox);
  command.insert(command.end(), sandbox.begin(), sandbox.end());
  if (!options.suite.empty())
    command.insert(command.end(), {"--suite", fs::absolute(options.suite).string()});
  const std::vector<std::string> log = arguments_of(options.log);
  command.insert(command.end(), log.begin(), log.end());
  agents::forget_keys();
  auto client = mcp::Client::connect_stdio(command);
  if (client) return client;
  // The server has already printed the reason to stderr, which it shares with the bench.
  return fail(ErrorCode::unavailable, "the server on device " + options.device + " with store " +
                                          store.string() +
                                          " did not start: " + client.error().message);
}

std::optional<agents::Price> price_of(const BenchPair& pair) {
  return pair.model == nullptr ? std::nullopt : pair.model->price;
}

/// Asks the server whether it still has the run, and returns an error if it does not. Without this
/// check, the bench would pay for replies of a model and then fail to add the attempts to the run.
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

/// Makes an attempt with recorded replies instead of a model.
Result<BenchAttempt> replayed(mcp::Client& client, const BenchPair& pair, const BenchTask& task,
                              agents::Transcript& transcript,
                              const agents::AttemptRequest& request) {
  Result<agents::RecordedReplies> replies =
      agents::RecordedReplies::load(transcript_path(pair.recorded, task.sample, task.operator_name),
                                    task.transcript, pair.model_label);
  if (!replies) return fail(replies.error());
  agents::MeteredClient metered(*replies, std::nullopt, agents::Spending{});
  const Result<agents::Attempt> ended =
      agents::attempt_operator(pair.agent, client, metered, transcript, request);
  if (!ended && !replies->refused()) return fail(ended.error());
  const Result<std::string> deviation = replies->deviation();
  if (!deviation) return fail(deviation.error());
  if (ended) return BenchAttempt{*ended, *deviation};
  agents::Attempt end;
  end.outcome = kNoReply;
  end.explanation = "replay: " + *deviation;
  return BenchAttempt{end, *deviation};
}

/// A pair of an agent and a model stops after this number of consecutive failures. A failure is an
/// attempt that did not finish, or an attempt whose prompt was refused. After so many failures, the
/// model or the server is presumably unavailable.
constexpr int kMostFailuresInARow = 3;

/// Returns true if the next attempt of the same pair would presumably end with the same error.
bool is_hopeless(const Error& error) {
  return error.code == ErrorCode::permission_denied || error.code == ErrorCode::invalid_argument ||
         error.code == ErrorCode::io;
}

class Workers {
 public:
  Workers(mcp::Client& client, agents::SpendingBudget& budget, BenchProgress& progress,
          const BenchPlan& plan, const std::vector<BenchTask>& tasks, std::vector<PairEnd>& ends,
          const Clock& clock)
      : client_(client),
        budget_(budget),
        progress_(progress),
        plan_(plan),
        tasks_(tasks),
        clock_(clock),
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
  void work() ASSAY_EXCLUDES(mutex_) {
    for (std::size_t index = next_++; index < tasks_.size(); index = next_++) {
      if (may_start(tasks_[index].pair)) attempt(tasks_[index]);
    }
  }

  bool may_start(std::size_t pair) {
    const MutexLock lock(mutex_);
    if (plan_.max_time && seconds_since(begin_ns_) >= static_cast<double>(plan_.max_time->count()))
      stop_all("the time limit of " + seconds_text(static_cast<double>(plan_.max_time->count())));
    return ends_[pair].stopped_by.empty();
  }

  void attempt(const BenchTask& task) {
    const BenchPair& pair = plan_.pairs[task.pair];
    const std::int64_t begin_ns = clock_.monotonic_ns();
    const Result<BenchAttempt> made = make_attempt(
        client_, budget_, plan_, task,
        {.step = [&](const std::string& step) { progress_.step(task.name, step); },
         .notice = [&](const std::string& text) { progress_.notice(task.name, text); }});
    if (!made) return gave_up(task, made.error());
    const agents::Attempt& end = made->end;
    const double wall_s = seconds_since(begin_ns);
    if (Status written = pair.journal->add_finished(task.sample, task.operator_name, end,
                                                    std::round(1e3 * wall_s), made->replay);
        !written)
      return gave_up(task, written.error());
    progress_.finished(task.pair, task.name, label_of(end), explanation_of(*made),
                       end.cost_known ? std::optional(end.cost_usd) : std::nullopt, wall_s);
    const MutexLock lock(mutex_);
    --ends_[task.pair].unfinished;
    // Here a refused prompt counts as a failure. An endpoint that refuses several prompts in a row
    // probably refuses all prompts. So the pair then stops and does not try the whole suite.
    if (end.error_kind == agents::kPromptRefused)
      return failed_in_a_row(task.pair, end.explanation);
    failures_in_a_row_[task.pair] = 0;
  }

  void failed_in_a_row(std::size_t pair, const std::string& why) ASSAY_REQUIRES(mutex_) {
    if (++failures_in_a_row_[pair] >= kMostFailuresInARow && ends_[pair].stopped_by.empty())
      ends_[pair].stopped_by = why;
  }

  void gave_up(const BenchTask& task, const Error& error) {
    progress_.unfinished(task.name, error.message);
    const MutexLock lock(mutex_);
    PairEnd& end = ends_[task.pair];
    if (budget_.limit_reached() || error.code == ErrorCode::io)
      return stop_all(error.message);  // a full disk stops every pair
    if (!is_hopeless(error)) return failed_in_a_row(task.pair, error.message);
    if (end.stopped_by.empty()) end.stopped_by = error.message;
  }

  void stop_all(const std::string& why) ASSAY_REQUIRES(mutex_) {
    for (PairEnd& end : ends_) {
      if (end.stopped_by.empty()) end.stopped_by = why;
    }
  }

  double seconds_since(std::int64_t begin_ns) const {
    return static_cast<double>(clock_.monotonic_ns() - begin_ns) / kNsPerS;
  }

  mcp::Client& client_;
  agents::SpendingBudget& budget_;
  BenchProgress& progress_;
  const BenchPlan& plan_;
  const std::vector<BenchTask>& tasks_;
  const Clock& clock_;
  const std::int64_t begin_ns_ = clock_.monotonic_ns();
  std::atomic<std::size_t> next_{0};
  Mutex mutex_;
  std::vector<PairEnd>& ends_ ASSAY_GUARDED_BY(mutex_);
  // The number of consecutive failures, by pair.
  std::vector<int> failures_in_a_row_ ASSAY_GUARDED_BY(mutex_);
};

std::vector<sandbox::Hint> hints_of(const agents::Attempt& attempt) {
  std::vector<sandbox::Hint> hints;
  for (const agents::AttemptHint& hint : attempt.hints)
    hints.push_back(
        {sandbox::hint_kind_from(hint.kind).value_or(sandbox::HintKind::other), "", hint.text});
  return hints;
}

}  // namespace

Result<std::unique_ptr<mcp::Client>> connect_bench(const BenchOptions& options,
                                                   const fs::path& store) {
  if (options.server.empty()) return start_server(options, store);
  const char* token = std::getenv(kTokenVariable);
  auto client = mcp::Client::connect_http(options.server, token == nullptr ? "" : token);
  if (!client) return client;
  if (const auto tools = (*client)->list_tools(); !tools)
    return fail(ErrorCode::unavailable,
                "no server answers at " + options.server + ": " + tools.error().message);
  return client;
}

std::filesystem::path transcript_path(const std::filesystem::path& directory, std::int64_t sample,
                                      const std::string& operator_name) {
  return directory / "transcripts" / (operator_name + "." + std::to_string(sample) + ".jsonl");
}

namespace {

/// Starts the run of a sample. If an earlier part of the bench was interrupted while it did so,
/// gets the run that was started then.
Result<agents::RunHandle> open_run(mcp::Client& client, const BenchPlan& plan,
                                   const BenchPair& pair, std::int64_t sample) {
  const bool was_started = pair.journal->has_start_of(sample);
  ASSAY_TRY(id, pair.journal->start_of(sample));
  agents::RunWish wish{pair.agent_name, pair.model_label, pair.track(), plan.suite, id};
  Result<agents::RunHandle> opened = agents::start_run(client, wish);
  if (opened || !was_started || opened.error().code != ErrorCode::not_found) return opened;
  // The server refuses the id, for example because the suite has other operators than then.
  ASSAY_TRY(fresh, pair.journal->new_start_of(sample));
  wish.call_id = fresh;
  return agents::start_run(client, wish);
}

}  // namespace

Result<std::vector<BenchTask>> open_tasks(mcp::Client& client, const BenchPlan& plan,
                                          std::vector<PairEnd>& ends) {
  std::vector<BenchTask> tasks;
  for (std::int64_t sample = 1; sample <= plan.samples; ++sample) {
    std::vector<const agents::RunHandle*> runs;
    for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
      const BenchPair& pair = plan.pairs[i];
      if (pair.journal->run_of(sample) == nullptr) {
        const Result<agents::RunHandle> opened = open_run(client, plan, pair, sample);
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
  for (const BenchTask& task : tasks) {
    const std::optional<agents::Price> price = price_of(plan.pairs[task.pair]);
    std::error_code error;
    if (!price || !std::filesystem::exists(task.transcript, error)) continue;
    const Result<agents::Transcript> transcript =
        agents::Transcript::open(task.transcript, system_clock());
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
    group.priced = price_of(plan.pairs[i]).has_value();
    for (const auto& [which, end] : plan.pairs[i].journal->finished_before()) {
      ++group.done;
      group.good += end.outcome == "pass" ? 1 : 0;
      group.priced = group.priced && end.cost_usd.has_value();
      group.cost_usd += end.cost_usd.value_or(0);
      if (end.wall_ms > 0) group.walls_s.push_back(end.wall_ms / 1e3);
    }
    groups.push_back(group);
  }
  return groups;
}

Result<BenchAttempt> make_attempt(mcp::Client& client, agents::SpendingBudget& budget,
                                  const BenchPlan& plan, const BenchTask& task,
                                  const AttemptWatcher& watcher) {
  const BenchPair& pair = plan.pairs[task.pair];
  Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, system_clock());
  if (!transcript) return fail(transcript.error());
  agents::AttemptRequest request;
  request.run = task.run;
  request.operator_name = task.operator_name;
  request.sample = task.sample;
  request.data_dir = plan.agents_dir;
  request.step = watcher.step;
  request.notice = watcher.notice;
  if (pair.model == nullptr) return replayed(client, pair, task, *transcript, request);
  agents::MeteredClient metered(*pair.model->client, pair.model->price, budget);
  Result<agents::Attempt> ended =
      agents::attempt_operator(pair.agent, client, metered, *transcript, request);
  if (!ended) return fail(ended.error());
  return BenchAttempt{std::move(*ended), ""};
}

std::optional<report::Label> label_without_submission(const std::string& outcome) {
  if (outcome == agents::kNoCode) return Label::no_code;
  if (outcome == agents::kTruncated) return Label::truncated;
  return std::nullopt;
}

report::Label label_of(const agents::Attempt& attempt) {
  if (const std::optional<Label> label = label_without_submission(attempt.outcome)) return *label;
  const bool not_submitted = attempt.outcome == "refused" || attempt.outcome == kNoReply ||
                             attempt.error_kind == agents::kPromptRefused;
  if (not_submitted) return Label::missing;
  return report::label_of(
      sandbox::outcome_from(attempt.outcome).value_or(sandbox::Outcome::error),
      sandbox::error_kind_from(attempt.error_kind).value_or(sandbox::ErrorKind::none),
      sandbox::stage_from(attempt.stage).value_or(sandbox::Stage::done), hints_of(attempt));
}

std::string explanation_of(const BenchAttempt& made) {
  const agents::Attempt& attempt = made.end;
  const std::string text =
      label_of(attempt) == Label::slow ? report::slow_hint(hints_of(attempt)) : attempt.explanation;
  return made.replay.empty() || attempt.outcome == kNoReply
             ? text
             : "replay: " + made.replay + "; " + text;
}

Result<std::vector<PairEnd>> run_bench(mcp::Client& client, const BenchPlan& plan,
                                       const Clock& clock) {
  std::vector<PairEnd> ends(plan.pairs.size());
  const Result<std::vector<BenchTask>> tasks = open_tasks(client, plan, ends);
  if (!tasks) return fail(tasks.error());
  const Result<double> spent = spent_before(plan, *tasks);
  if (!spent) return fail(spent.error());
  agents::SpendingBudget budget({plan.max_cost_usd, *spent});
  std::size_t widest = 0;
  for (const BenchTask& task : *tasks) widest = std::max(widest, report::width_of(task.name));
  BenchProgress progress(stderr, ::isatty(STDERR_FILENO) == 1, progress_groups(plan, ends),
                         plan.jobs, widest);
  Workers(client, budget, progress, plan, *tasks, ends, clock).run();
  return ends;
}

}  // namespace assay::bench
