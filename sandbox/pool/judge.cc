#include "sandbox/pool/judge.h"

#include <cstdint>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kJudgeStartMs = 120'000;
constexpr std::int64_t kReleaseMs = 1'000;  // time limit for sending the release of a job

std::string log_name(const SandboxConfig& config, std::string device, int number) {
  for (char& c : device) {
    if (c == ':') c = '-';
  }
  return config.state_dir + "/judge-" + device + (number == 0 ? "" : "." + std::to_string(number)) +
         ".log";
}

}  // namespace

Judge::Judge(const SandboxConfig& config, Spawner& spawner, const std::string& device, int number)
    : config_(config),
      spawner_(spawner),
      gpu_(lone_gpu(device)),
      device_(gpu_ ? gpu_->device : device),
      log_(log_name(config, device, number)),
      warm_up_([this] { ready(Deadline::after_ms(kJudgeStartMs, shutdown_.get_token())); }) {}

Judge::~Judge() {
  shutdown_.request_stop();
  warm_up_.join();
}

Result<JudgeReady> Judge::ready(const Deadline& deadline) {
  const Result<FifoSemaphore::Slot> turn = turn_.acquire(deadline);
  if (!turn) return fail(turn.error());
  if (Status started = ensure_started(deadline); !started) return fail(started.error());
  return *ready_;
}

Status Judge::ensure_started(const Deadline& deadline) {
  if (socket_ && process_.alive()) return {};
  stop();
  Result<SocketPair> sockets = make_socket_pair();
  if (!sockets) return fail(sockets.error());
  const int theirs = sockets->theirs.get();
  Result<Process> process =
      spawner_.spawn({.argv = {config_.python, "-I", "-B", "-u", config_.harness_dir + "/main.py",
                               "judge", "--socket-fd", std::to_string(theirs), "--device", device_},
                      .environment = trusted_environment(gpu_ ? gpu_->environment : Environment{}),
                      .inherit = {theirs},
                      .log = log_});
  if (!process) return fail(process.error());
  process_ = std::move(*process);
  socket_ = std::move(sockets->ours);
  sockets->theirs.reset();
  Result<Frame> frame = receive_frame(socket_.get(), deadline);
  Result<JudgeReady> facts = frame ? parse_judge_ready(*frame) : fail(frame.error());
  if (!facts) {
    stop();
    const std::string tail = tail_of(log_);
    return fail(facts.error().code,
                "the judge did not become ready: " + facts.error().message +
                    (tail.empty() ? "" : "\nthe end of its log (" + log_ + "):\n" + tail));
  }
  ready_ = std::move(*facts);
  return {};
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
  if (!turn) return fail(turn.error());
  send_releases_now();  // ends a process that cannot take them, so that a new one is started
  if (Status started = ensure_started(deadline); !started) return fail(started.error());
  if (Status sent = send_frame(socket_.get(), request, {}, fds, deadline); !sent) {
    stop();
    return fail(sent.error());
  }
  while (true) {
    Result<Frame> reply = receive_frame(socket_.get(), deadline);
    if (!reply) {
      // After a cancellation the judge keeps running, and its late answer is skipped. A judge that
      // misses a deadline or ends is replaced by a new process.
      if (reply.error().code != ErrorCode::cancelled) {
        const std::optional<ExitStatus> status = process_.wait(Deadline::after_ms(0));
        stop();
        return fail(reply.error().code,
                    "the judge did not answer: " +
                        (status ? assay::describe(*status) : reply.error().message));
      }
      return reply;
    }
    if (!answers(*reply, job, case_id)) continue;
    if (reply->type() == "judge_error") {
      const Error error = parse_judge_error(*reply);
      if (error.code == ErrorCode::unavailable) stop();  // the next request starts a new process
      return fail(error);
    }
    return reply;
  }
}

Result<PreparedJob> Judge::ask_for_cases(const Job& job, const nlohmann::json& request,
                                         const Deadline& deadline) {
  Result<Frame> reply = ask(request, {}, job.id, {}, deadline);
  // Operator code of an earlier job may have broken the judge's CUDA context. The error then says
  // nothing about this job, so the request is repeated once with a new process.
  if (!reply && reply.error().code == ErrorCode::unavailable)
    reply = ask(request, {}, job.id, {}, deadline);
  if (!reply) return fail(reply.error());
  Result<Prepared> prepared =
      request.at("type") == "describe" ? parse_described(*reply) : parse_prepared(*reply);
  if (!prepared) return fail(prepared.error());
  PreparedJob out{std::move(prepared->cases), prepared->device, std::move(reply->fds)};
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
  return ask_for_cases(job, prepare_header(job, device_), deadline);
}

Result<Compared> Judge::compare(const CaseName& of, const RunOutputs& outputs,
                                const Deadline& deadline, bool keep) {
  const bool on_device = outputs.fd < 0;
  const std::vector<int> fds = on_device ? std::vector<int>{} : std::vector<int>{outputs.fd};
  Result<Frame> reply = ask(compare_header(of.job, of.case_id, outputs.tensors, on_device, keep),
                            fds, of.job, of.case_id, deadline);
  if (!reply) return fail(reply.error());
  return parse_compared(*reply);
}

Result<HostJudged> Judge::host_case(const CaseName& of, const HostRounds& rounds,
                                    const Limits& limits, const Deadline& deadline) {
  Result<Frame> reply =
      ask(host_case_header(of.job, of.case_id, rounds.time,
                           limits.import_wall_ms + limits.run_wall_ms, limits.gpu_memory_bytes),
          {rounds.line}, of.job, of.case_id, deadline);
  if (!reply) return fail(reply.error());
  return parse_host_judged(*reply);
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
  return parse_attributed(*reply);
}

Result<std::string> Judge::refresh(const std::string& job, const std::string& case_id,
                                   const Deadline& deadline) {
  Result<Frame> reply = ask(refresh_header(job, case_id), {}, job, case_id, deadline);
  if (!reply) return fail(reply.error());
  return parse_refreshed(*reply);
}

Status Judge::compute_references(const CaseName& of, bool timed, const Deadline& deadline) {
  const Result<Frame> reply =
      ask(references_header(of.job, of.case_id, timed), {}, of.job, of.case_id, deadline);
  return reply ? parse_referenced(*reply) : fail(reply.error());
}

Status Judge::settle(const std::string& job, const Deadline& deadline) {
  const Result<Frame> reply = ask(settle_header(job), {}, job, {}, deadline);
  return reply ? parse_settled(*reply) : fail(reply.error());
}

Result<std::vector<double>> Judge::time_reference(const std::string& job,
                                                  const std::string& case_id,
                                                  const Deadline& deadline) {
  Result<Frame> reply = ask(time_reference_header(job, case_id), {}, job, case_id, deadline);
  if (!reply) return fail(reply.error());
  return parse_timed_reference(*reply);
}

Result<CompiledTime> Judge::time_compiled(const std::string& operator_dir, const CaseRequest& one,
                                          const Deadline& deadline) {
  Result<Frame> reply = ask(time_compiled_header(operator_dir, one), {}, {}, one.id, deadline);
  if (!reply) return fail(reply.error());
  return parse_timed_compiled(*reply);
}

Result<std::vector<LintCheck>> Judge::lint(const std::string& operator_dir,
                                           const std::vector<CaseRequest>& cases,
                                           std::uint32_t seed, const Deadline& deadline) {
  Result<Frame> reply = ask(lint_header(operator_dir, device_, cases, seed), {}, {}, {}, deadline);
  if (!reply) return fail(reply.error());
  return parse_linted(*reply);
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
    if (!socket_) return;  // the judge's process has ended, so it no longer knows the jobs
    const Status sent =
        send_frame(socket_.get(), release_header(one.job), {}, {}, Deadline::after_ms(kReleaseMs));
    if (!sent) stop();  // the process could not read the next request either
  }
}

void Judge::stop() {
  socket_.reset();
  process_ = Process();
}

}  // namespace assay::sandbox
