#include "sandbox/pool/judge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kJudgeStartMs = 120'000;
constexpr std::int64_t kReleaseMs = 1'000;  // time limit for sending the release of a job

/// Returns an error that is not one of the judge's work on a request, so the job that asked does
/// not run again.
Error not_of_request(const Error& error) {
  if (error.code == ErrorCode::cancelled) return error;
  return {ErrorCode::internal, error.message};
}

bool is_used_by_argument(const std::vector<PreparedCase>& cases, std::int64_t fd) {
  return std::any_of(cases.begin(), cases.end(), [&](const PreparedCase& one) {
    return std::any_of(one.arguments.begin(), one.arguments.end(),
                       [&](const Argument& argument) { return argument.fd == fd; });
  });
}

}  // namespace

Judge::Judge(const SandboxConfig& config, Spawner& spawner, const std::string& device, int number)
    : process_(std::make_unique<TrustedJudgeProcess>(config, spawner, device, number)),
      warm_up_([this] { ready(Deadline::after_ms(kJudgeStartMs, shutdown_.get_token())); }) {}

Judge::Judge(std::unique_ptr<JudgeProcess> process) : process_(std::move(process)) {}

Judge::~Judge() {
  shutdown_.request_stop();
  if (warm_up_.joinable()) warm_up_.join();
}

Result<JudgeReady> Judge::ready(const Deadline& deadline) {
  const Result<FifoSemaphore::Slot> turn = turn_.acquire(deadline);
  if (!turn) return fail(turn.error());
  if (Status started = ensure_started(deadline); !started) return fail(started.error());
  return *ready_;
}

Status Judge::ensure_started(const Deadline& deadline) {
  if (process_->alive()) return {};
  has_worked_ = false;
  if (process_->socket() >= 0) last_end_ = process_->how_it_ended().value_or("");
  Result<JudgeReady> facts = process_->start(deadline);
  if (!facts) return fail(facts.error());
  ready_ = std::move(*facts);
  return {};
}

/// Ends the process. The next request starts a new one.
void Judge::stop_process() {
  process_->stop();
  has_worked_ = false;
}

/// Turns an error of the process of a check into an error of its reference, and keeps the error.
Error Judge::of_reference(const Error& error) {
  const std::optional<std::string> end = process_->how_it_ended();
  const bool told = error.code == ErrorCode::reference;
  const bool late = error.code == ErrorCode::resource_exhausted;
  failure_ = {ErrorCode::reference,
              "the reference failed: " + (told   ? error.message
                                          : end  ? *end
                                          : late ? "it did not answer in time (reference_wall_ms)"
                                                 : error.message)};
  process_->stop();
  return *failure_;
}

/// Returns the answer. If the answer of a process that is not trusted is malformed, the code that
/// it executes has taken control of it. Then the error is one of the reference of a check, or that
/// of a judge that ended.
template <class T>
Result<T> Judge::told(Result<T> answer) const {
  if (answer || process_->is_trusted()) return answer;
  if (process_->has_own_reference())
    return fail(
        ErrorCode::reference,
        "the reference failed: its process sent a malformed answer: " + answer.error().message);
  return fail(ErrorCode::unavailable,
              "the judge sent a malformed answer: " + answer.error().message);
}

Result<Frame> Judge::ask(const nlohmann::json& request, const std::vector<int>& fds,
                         const std::string& job, const std::string& case_id,
                         const Deadline& deadline) {
  Result<Frame> reply = ask_in_turn(request, fds, job, case_id, deadline);
  send_releases();  // releases that were requested while the judge was busy
  return reply;
}

Result<Frame> Judge::ask_in_turn(const nlohmann::json& request, const std::vector<int>& fds,
                                 const std::string& job, const std::string& case_id,
                                 const Deadline& deadline) {
  const Result<FifoSemaphore::Slot> turn = turn_.acquire(deadline);
  if (!turn) return fail(not_of_request(turn.error()));
  if (failure_) return fail(*failure_);
  send_releases_now();  // ends a process that cannot take them, so that a new one is started
  if (Status started = ensure_started(deadline); !started)
    return fail(not_of_request(started.error()));
  has_worked_ = true;
  const bool own = process_->has_own_reference();
  if (Status sent = send_frame(process_->socket(), request, {}, fds, deadline); !sent) {
    if (own && sent.error().code != ErrorCode::cancelled) return fail(of_reference(sent.error()));
    const bool cancelled = sent.error().code == ErrorCode::cancelled;
    stop_process();
    return fail(cancelled ? ErrorCode::cancelled : ErrorCode::unavailable,
                "the judge took no request: " + sent.error().message);
  }
  while (true) {
    Result<Frame> reply = receive_frame(process_->socket(), deadline);
    if (!reply) {
      // After a cancellation the judge keeps running, and its late answer is skipped. A judge that
      // misses a deadline or ends is replaced by a new process.
      if (reply.error().code != ErrorCode::cancelled) {
        if (own) return fail(of_reference(reply.error()));
        const std::optional<std::string> end = process_->how_it_ended();
        last_end_ = end.value_or(reply.error().message);
        stop_process();
        return fail(ErrorCode::unavailable,
                    "the judge did not answer: " + end.value_or(reply.error().message));
      }
      return reply;
    }
    if (!answers(*reply, job, case_id)) continue;
    if (reply->type() == "judge_error") {
      Error error = parse_judge_error(*reply);
      if (error.code == ErrorCode::not_found && !last_end_.empty())
        error.message += "; the judge before it ended: " + last_end_;
      if (own) return fail(of_reference(error));
      if (error.code == ErrorCode::unavailable) stop_process();
      return fail(error);
    }
    return reply;
  }
}

Result<PreparedJob> Judge::ask_for_cases(const Job& job, const nlohmann::json& request,
                                         const Deadline& deadline) {
  Result<Frame> reply = ask(request, {}, job.id, {}, deadline);
  if (!reply) return fail(reply.error());
  Result<Prepared> prepared =
      request.at("type") == "describe" ? parse_described(*reply) : parse_prepared(*reply);
  if (!prepared) return fail(told(std::move(prepared)).error());
  if (!process_->is_trusted()) {
    // The process could truncate a file that is not sealed while another process reads it.
    const std::int64_t shared = prepared->device ? prepared->device->fd : -1;
    if (is_used_by_argument(prepared->cases, shared))
      return fail(
          told<PreparedJob>(fail(ErrorCode::corrupt, "an argument is in device memory")).error());
    for (std::size_t i = 0; i < reply->fds.size(); ++i) {
      if (static_cast<std::int64_t>(i) == shared) continue;  // memory of the device, not a file
      const Result<std::uint64_t> sealed = check_foreign_memfd(reply->fds[i].get());
      if (!sealed) return fail(told<PreparedJob>(fail(sealed.error())).error());
    }
  }
  return told(complete(job, request, std::move(*prepared), std::move(reply->fds)));
}

/// Returns the prepared cases if they are the cases of the job.
Result<PreparedJob> Judge::complete(const Job& job, const nlohmann::json& request,
                                    Prepared prepared, std::vector<UniqueFd> fds) {
  PreparedJob out{std::move(prepared.cases), prepared.device, std::move(fds)};
  if (out.cases.empty() && request.value("without_inputs", false)) return out;
  if (out.cases.size() != job.cases.size())
    return fail(ErrorCode::internal, "the judge prepared " + std::to_string(out.cases.size()) +
                                         " of " + std::to_string(job.cases.size()) + " cases");
  for (std::size_t i = 0; i < out.cases.size(); ++i) {
    if (out.cases[i].id != job.cases[i].id)
      return fail(ErrorCode::internal, "the judge prepared case '" + out.cases[i].id +
                                           "' instead of '" + job.cases[i].id + "'");
  }
  return out;
}

Result<PreparedJob> Judge::describe(const Job& job, const Deadline& deadline) {
  return ask_for_cases(job, describe_header(job, false), deadline);
}

Result<std::optional<PreparedJob>> Judge::describe_without_inputs(const Job& job,
                                                                  const Deadline& deadline) {
  Result<PreparedJob> described = ask_for_cases(job, describe_header(job, true), deadline);
  if (!described) return fail(described.error());
  if (described->cases.size() != job.cases.size()) return std::nullopt;
  return std::move(*described);
}

Result<PreparedJob> Judge::prepare(const Job& job, const Deadline& deadline) {
  return ask_for_cases(job, prepare_header(job, process_->device()), deadline);
}

Result<Compared> Judge::compare(const CaseName& of, const RunOutputs& outputs,
                                const Deadline& deadline, bool keep) {
  const bool on_device = outputs.fd < 0;
  const std::vector<int> fds = on_device ? std::vector<int>{} : std::vector<int>{outputs.fd};
  Result<Frame> reply = ask(compare_header(of.job, of.case_id, outputs.tensors, on_device, keep),
                            fds, of.job, of.case_id, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_compared(*reply));
}

Result<HostJudged> Judge::host_case(const CaseName& of, const HostRounds& rounds,
                                    const Limits& limits, const Deadline& deadline) {
  Result<Frame> reply =
      ask(host_case_header(of.job, of.case_id, rounds.time,
                           limits.import_wall_ms + limits.run_wall_ms, limits.gpu_memory_bytes),
          {rounds.line}, of.job, of.case_id, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_host_judged(*reply));
}

Result<Attributed> Judge::attribute(const CaseName& of, const AttributionRuns& runs,
                                    const Deadline& deadline) {
  const auto& [full, without] = runs;
  const bool on_device = full.fd < 0;
  if (on_device != (without.fd < 0))
    return fail(ErrorCode::invalid_argument,
                "the outputs of one run are in a memory file, those of the other are not");
  Result<Frame> reply =
      on_device ? ask(attribute_kept_header(of.job, of.case_id, without.tensors), {}, of.job,
                      of.case_id, deadline)
                : ask(attribute_header(of.job, of.case_id, full.tensors, without.tensors),
                      {full.fd, without.fd}, of.job, of.case_id, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_attributed(*reply));
}

Result<std::string> Judge::refresh(const std::string& job, const std::string& case_id,
                                   const Deadline& deadline) {
  Result<Frame> reply = ask(refresh_header(job, case_id), {}, job, case_id, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_refreshed(*reply));
}

Status Judge::compute_references(const CaseName& of, bool timed, const Deadline& deadline) {
  const Result<Frame> reply =
      ask(references_header(of.job, of.case_id, timed), {}, of.job, of.case_id, deadline);
  return reply ? parse_referenced(*reply) : fail(reply.error());
}

Status Judge::free_memory(const Deadline& deadline) {
  if (!has_worked_) return {};
  const Result<Frame> reply = ask(free_memory_header(), {}, {}, {}, deadline);
  return reply ? parse_freed(*reply) : fail(reply.error());
}

Status Judge::settle(const std::string& job, const Deadline& deadline) {
  if (!has_worked_) return {};
  const Result<Frame> reply = ask(settle_header(job), {}, job, {}, deadline);
  return reply ? parse_settled(*reply) : fail(reply.error());
}

Result<std::vector<double>> Judge::time_reference(const std::string& job,
                                                  const std::string& case_id,
                                                  const Deadline& deadline) {
  Result<Frame> reply = ask(time_reference_header(job, case_id), {}, job, case_id, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_timed_reference(*reply));
}

Result<CompiledTime> Judge::time_compiled(const std::string& operator_dir, const CaseRequest& one,
                                          const Deadline& deadline, bool eager) {
  Result<Frame> reply =
      ask(time_compiled_header(operator_dir, one, eager), {}, {}, one.id, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_timed_compiled(*reply));
}

Result<std::vector<LintCheck>> Judge::lint(const std::string& operator_dir,
                                           const std::vector<CaseRequest>& cases,
                                           std::uint32_t seed, const Deadline& deadline) {
  Result<Frame> reply =
      ask(lint_header(operator_dir, process_->device(), cases, seed), {}, {}, {}, deadline);
  if (!reply) return fail(reply.error());
  return told(parse_linted(*reply));
}

void Judge::release(const std::string& job, std::optional<FifoSemaphore::Slot> memory) {
  {
    const MutexLock lock(mutex_);
    released_.push_back({job, std::move(memory)});
  }
  send_releases();
}

/// Sends the waiting releases if no request is in progress. If a request is in progress, its thread
/// sends the releases later.
void Judge::send_releases() {
  while (has_releases()) {
    const Result<FifoSemaphore::Slot> turn = turn_.acquire(Deadline::after_ms(0));
    if (!turn) return;
    send_releases_now();
  }
}

bool Judge::has_releases() {
  const MutexLock lock(mutex_);
  return !released_.empty();
}

/// Sends the waiting releases. The caller must hold the slot of turn_.
void Judge::send_releases_now() {
  std::vector<Release> releases;
  {
    const MutexLock lock(mutex_);
    releases.swap(released_);
  }
  for (const Release& one : releases) {
    // If the judge's process has ended, it no longer knows the jobs.
    if (process_->socket() < 0) return;
    const Status sent = send_frame(process_->socket(), release_header(one.job), {}, {},
                                   Deadline::after_ms(kReleaseMs));
    if (!sent) stop_process();  // the process could not read the next request either
  }
}

}  // namespace assay::sandbox
