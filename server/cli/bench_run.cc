#include "server/cli/bench_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

#include "server/cli/bench_progress.h"

namespace assay::server {
namespace {

/// After so many attempts in a row that could not be finished, the model or the server is taken as gone.
constexpr int kMostFailuresInARow = 3;

struct Task {
  std::int64_t sample = 1;
  std::string run;
  std::string operator_name;
  std::string name;  // for a person
  std::filesystem::path transcript;
};

std::filesystem::path transcript_path(const BenchPlan& plan, std::int64_t sample, const std::string& operator_name) {
  return plan.directory / "transcripts" / (operator_name + "." + std::to_string(sample) + ".jsonl");
}

Label label_of_attempt(const agents::Attempt& attempt) {
  if (attempt.outcome == "no_code" || attempt.outcome == "refused") return Label::missing;
  return label_of(sandbox::outcome_from(attempt.outcome).value_or(sandbox::Outcome::error),
                  sandbox::error_kind_from(attempt.error_kind).value_or(sandbox::ErrorKind::none),
                  sandbox::stage_from(attempt.stage).value_or(sandbox::Stage::done), attempt.hints);
}

/// What a line says beside the label.
std::string explanation_of(const agents::Attempt& attempt, Label label) {
  if (label == Label::slow) return slow_hint(attempt.hints);
  const std::string prefix = attempt.outcome + ": ";
  return attempt.explanation.starts_with(prefix) ? attempt.explanation.substr(prefix.size()) : attempt.explanation;
}

/// Errors that the next operator would meet as well.
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

Result<std::vector<Task>> open_tasks(mcp::Client& client, const std::string& model_label, BenchJournal& journal, const BenchPlan& plan, BenchEnd& end) {
  std::vector<Task> tasks;
  for (std::int64_t sample = 1; sample <= plan.samples; ++sample) {
    const agents::RunHandle* known = journal.run_of(sample);
    if (known == nullptr) {
      const Result<agents::RunHandle> opened = agents::start_run(client, {plan.agent_name, model_label, plan.agent.entry->track, plan.suite});
      if (!opened) return fail(opened.error());
      if (Status written = journal.add_run(sample, *opened); !written) return fail(written.error());
      known = journal.run_of(sample);
    }
    if (Status there = check_run(client, known->run); !there) return fail(there.error());
    end.runs.push_back(known->run);
    for (const std::string& name : known->operators) {
      ++end.attempts;
      if (journal.is_finished(sample, name)) continue;
      tasks.push_back({sample, known->run, name, plan.samples == 1 ? name : name + " #" + std::to_string(sample), transcript_path(plan, sample, name)});
    }
  }
  return tasks;
}

/// What an earlier part of the bench paid: finished attempts, and replies whose attempts were cut short.
Result<double> spent_before(const BenchJournal& journal, const std::vector<Task>& tasks, const std::optional<agents::Price>& price) {
  double spent = journal.spent_before_usd();
  if (!price) return spent;
  const SystemClock clock;
  for (const Task& task : tasks) {
    std::error_code error;
    if (!std::filesystem::exists(task.transcript, error)) continue;
    const Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, clock);
    if (!transcript) return fail(transcript.error());
    for (const agents::CompletionReply& reply : transcript->earlier_replies()) spent += price->cost_usd(reply.input_tokens, reply.output_tokens);
  }
  return spent;
}

class Workers {
 public:
  Workers(mcp::Client& client, agents::MeteredClient& model, BenchJournal& journal, BenchProgress& progress, const BenchPlan& plan,
          const std::vector<Task>& tasks)
      : client_(client), model_(model), journal_(journal), progress_(progress), plan_(plan), tasks_(tasks) {}

  void run(std::int64_t jobs, BenchEnd& end) {
    std::vector<std::thread> threads;
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(jobs), tasks_.size());
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    end.unfinished = tasks_.size() - finished_;
    end.stopped_by = stopped_by_;
  }

 private:
  void work() {
    while (!stop_) {
      const std::size_t index = next_++;
      if (index >= tasks_.size()) return;
      attempt(tasks_[index]);
    }
  }

  void attempt(const Task& task) {
    Result<agents::Transcript> transcript = agents::Transcript::open(task.transcript, clock_);
    if (!transcript) return gave_up(task, transcript.error());
    agents::AttemptRequest request;
    request.run = task.run;
    request.operator_name = task.operator_name;
    request.sample = task.sample;
    request.data_dir = plan_.agents_dir;
    request.step = [&](const std::string& step) { progress_.step(task.name, step); };
    const Result<agents::Attempt> ended = agents::attempt_operator(plan_.agent, client_, model_, *transcript, request);
    if (!ended) return gave_up(task, ended.error());
    if (Status written = journal_.add_finished(task.sample, task.operator_name, *ended); !written) return gave_up(task, written.error());
    const Label label = label_of_attempt(*ended);
    progress_.finished(task.name, label, explanation_of(*ended, label), ended->cost_usd - ended->paid_before_usd);
    const std::lock_guard lock(mutex_);
    ++finished_;
    failures_in_a_row_ = 0;
  }

  void gave_up(const Task& task, const Error& error) {
    progress_.unfinished(task.name, error.message);
    const std::lock_guard lock(mutex_);
    ++failures_in_a_row_;
    if (stop_ || (!model_.limit_reached() && !is_hopeless(error) && failures_in_a_row_ < kMostFailuresInARow)) return;
    stop_ = true;
    stopped_by_ = error.message;
  }

  mcp::Client& client_;
  agents::MeteredClient& model_;
  BenchJournal& journal_;
  BenchProgress& progress_;
  const BenchPlan& plan_;
  const std::vector<Task>& tasks_;
  const SystemClock clock_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::size_t finished_ = 0;
  int failures_in_a_row_ = 0;
  std::string stopped_by_;
};

}  // namespace

Result<BenchEnd> run_bench(mcp::Client& client, agents::LlmClient& model, const std::optional<agents::Price>& price, std::optional<double> max_cost_usd,
                           BenchJournal& journal, const BenchPlan& plan) {
  BenchEnd end;
  const Result<std::vector<Task>> tasks = open_tasks(client, model.label(), journal, plan, end);
  if (!tasks) return fail(tasks.error());
  const Result<double> spent = spent_before(journal, *tasks, price);
  if (!spent) return fail(spent.error());
  agents::MeteredClient metered(model, price, {max_cost_usd, *spent});
  BenchProgress progress(stderr, ::isatty(STDERR_FILENO) == 1, end.attempts, end.attempts - tasks->size(), plan.priced);
  Workers(client, metered, journal, progress, plan, *tasks).run(plan.jobs, end);
  return end;
}

}  // namespace assay::server
