#include "sandbox/pool/judge.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "sandbox/wire/header_reader.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kReleaseMs = 1'000;  // time limit for sending the release of a job
// The time in which a request ends whose process has lost its connection.
constexpr std::int64_t kInterruptMs = 10'000;
// The number of frames before an answer that answer no request. A judge sends one such frame for
// each request that was cancelled. A process that sends more of them is out of control.
constexpr int kMostStrayFrames = 1'000;
constexpr const char* kGaveWay = "it did not end its work before another job was timed";

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

/// Checks the files of a process that is not trusted. Such a process could truncate a file that is
/// not sealed while another process reads it.
Status check_files(const Prepared& prepared, const std::vector<UniqueFd>& fds) {
  const std::int64_t shared = prepared.device ? prepared.device->fd : -1;
  if (is_used_by_argument(prepared.cases, shared))
    return fail(ErrorCode::corrupt, "an argument is in device memory");
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (static_cast<std::int64_t>(i) == shared) continue;  // memory of the device, not a file
    const Result<std::uint64_t> sealed = check_foreign_memfd(fds[i].get());
    if (!sealed) return fail(sealed.error());
  }
  return {};
}

}  // namespace

Judge::Judge(const SandboxConfig& config, Spawner& spawner, const std::string& device, int number)
    : process_(std::make_unique<TrustedJudgeProcess>(config, spawner, device, number)),
      warm_up_([this] { ready(Deadline::after_ms(kStartMs, shutdown_.get_token())); }) {}

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
  note_end();
  Result<JudgeReady> facts = process_->start(deadline);
  if (!facts) return fail(facts.error());
  ready_ = std::move(*facts);
  return {};
}

/// Notes how a process that is no longer alive has ended.
void Judge::note_end() {
  if (process_->socket() < 0) return;
  last_end_ = process_->how_it_ended().value_or("");
  gave_way_ = false;
}

/// Ends the process. The next request starts a new one.
void Judge::stop_process() {
  process_->stop();
  has_worked_ = false;
  gave_way_ = false;
}

/// Ends a process that keeps the GPU from a job that will be timed.
void Judge::stop_for_timing() {
  stop_process();
  gave_way_ = true;
  last_end_ = kGaveWay;
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

/// Returns the error for an answer that read() refused. If the process is not trusted, the code
/// that it executes has taken control of it. Then the process is stopped, and the error is one of
/// the reference of a check, or that of a judge that ended.
Error Judge::malformed(const Error& error) {
  if (process_->is_trusted()) return error;
  const std::string what = "sent a malformed answer: " + error.message;
  if (process_->has_own_reference())
    return of_reference({ErrorCode::reference, "its process " + what});
  last_end_ = "the judge " + what;
  stop_process();
  return {ErrorCode::unavailable, last_end_};
}

Status Judge::ask(const Request& request, const Read& read, const Deadline& deadline) {
  Status answered = ask_in_turn(request, read, deadline);
  send_releases();  // releases that were requested while the judge was busy
  return answered;
}

Status Judge::ask_in_turn(const Request& request, const Read& read, const Deadline& deadline) {
  const auto after_ms = [&](std::int64_t ms) { return Deadline::after_ms(ms, deadline.stop()); };
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  const Result<FifoSemaphore::Slot> turn = turn_.acquire(after_ms(kForeverMs));
  if (!turn) return fail(not_of_request(turn.error()));
  const std::int64_t turn_ns = system_clock().monotonic_ns();
  if (failure_) return fail(*failure_);
  send_releases_now();  // ends a process that cannot take them, so that a new one is started
  Deadline work = after_ms(deadline.limit_ms());
  const bool own = process_->has_own_reference();  // the start executes code of the caller
  const Status started = ensure_started(own ? work : after_ms(kStartMs));
  if (!started) return fail(not_of_request(started.error()));
  if (!own) work = after_ms(deadline.limit_ms());
  has_worked_ = true;
  Status answered = ask_now(request, read, work);
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / kNsPerMs; };
  log::trace("judge request", {{"type", request.header.value("type", std::string())},
                               {"waited_ms", ms(turn_ns - begin_ns)},
                               {"ms", ms(system_clock().monotonic_ns() - turn_ns)}});
  return answered;
}

/// Notes the case of the request that the process says it has begun.
void Judge::note_begun(const Frame& frame, const Request& request) {
  HeaderReader in(frame.header, "begun");
  if (in.optional_text("job") == request.job) begun_ = in.optional_text("case");
}

/// Waits for the answer to a request. Skips answers to earlier requests. Errors: as
/// receive_frame(), and corrupt if the process sent too many other frames.
Result<Frame> Judge::receive_answer(const Request& request, const Deadline& work) {
  begun_.clear();
  for (int strays = 0; strays <= kMostStrayFrames; ++strays) {
    Result<Frame> reply = receive_frame(process_->socket(), work);
    const bool begun = reply && reply->type() == "begun";
    if (begun) note_begun(*reply, request);
    if (!reply || (!begun && answers(*reply, request.job, request.case_id))) return reply;
    // receive_frame() checks the deadline only while no whole frame has arrived.
    if (work.cancelled()) return fail(ErrorCode::cancelled, "cancelled");
    if (work.expired()) return fail(ErrorCode::resource_exhausted, "the deadline passed");
  }
  return fail(ErrorCode::corrupt, "it sent more than " + std::to_string(kMostStrayFrames) +
                                      " frames that answer no request (kMostStrayFrames)");
}

/// Says which limit a judge has reached, and at which case of the request. Does not name a hidden
/// case, because a client may read the text before its submission gets hidden cases.
std::string Judge::late_text(const Request& request, const Deadline& work) const {
  std::string at;
  for (const CaseRequest& one :
       request.cases != nullptr ? *request.cases : std::vector<CaseRequest>()) {
    if (one.id == begun_) at = one.hidden ? " on a hidden case" : " on case '" + one.id + "'";
  }
  const std::string setting = request.setting;
  return "its work" + at + " took longer than " + std::to_string(work.limit_ms()) + " ms" +
         (setting.empty() ? "" : " (" + setting + ")");
}

/// Sends the request and reads the answer. The caller holds the slot of turn_.
Status Judge::ask_now(const Request& request, const Read& read, const Deadline& work) {
  const bool own = process_->has_own_reference();
  set_asked_socket(process_->socket());
  Status sent = send_frame(process_->socket(), request.header, {}, request.fds, work);
  Result<Frame> reply = sent ? receive_answer(request, work) : fail(sent.error());
  const bool interrupted = set_asked_socket(-1);  // before the socket is closed
  if (interrupted) stop_for_timing();  // also if the answer came first: the connection has ended
  if (!reply && interrupted && reply.error().code != ErrorCode::cancelled)
    return fail(ErrorCode::preempted, std::string("the judge did not answer: ") + kGaveWay);
  if (!sent) {
    const bool cancelled = sent.error().code == ErrorCode::cancelled;
    if (own && !cancelled) return fail(of_reference(sent.error()));
    stop_process();
    return fail(cancelled ? ErrorCode::cancelled : ErrorCode::unavailable,
                "the judge took no request: " + sent.error().message);
  }
  if (!reply) {
    // After a cancellation the judge keeps running, and its late answer is skipped. A judge that
    // misses a deadline or ends is replaced by a new process.
    if (reply.error().code == ErrorCode::cancelled) return fail(reply.error());
    if (own) return fail(of_reference(reply.error()));
    const bool late = reply.error().code == ErrorCode::resource_exhausted;
    last_end_ =
        late ? late_text(request, work) : process_->how_it_ended().value_or(reply.error().message);
    stop_process();
    return fail(ErrorCode::unavailable, "the judge did not answer: " + last_end_);
  }
  if (reply->type() == "judge_error") {
    Error error = parse_judge_error(*reply);
    if (error.code == ErrorCode::not_found && !last_end_.empty())
      error.message += "; the judge before it ended: " + last_end_;
    if (error.code == ErrorCode::not_found && gave_way_) error.code = ErrorCode::preempted;
    if (own) return fail(of_reference(error));
    if (error.code == ErrorCode::unavailable) stop_process();
    return fail(error);
  }
  if (Status known = read(*reply); !known) return fail(malformed(known.error()));
  return {};
}

/// Returns whether interrupt() has ended the work on the last socket.
bool Judge::set_asked_socket(int socket) {
  const MutexLock lock(mutex_);
  asked_socket_ = socket;
  return std::exchange(interrupted_, false);
}

/// Ends the request for which another thread waits, and its process with it. Returns at once.
void Judge::interrupt() {
  const MutexLock lock(mutex_);
  if (asked_socket_ < 0) return;
  interrupted_ = true;
  ::shutdown(asked_socket_, SHUT_RDWR);
}

Result<PreparedJob> Judge::ask_for_cases(const Job& job, const nlohmann::json& request,
                                         const Deadline& deadline) {
  Result<PreparedJob> made = fail(ErrorCode::internal, "the judge's answer was not read");
  const Read read = [&](Frame& frame) -> Status {
    Result<Prepared> prepared =
        request.at("type") == "describe" ? parse_described(frame) : parse_prepared(frame);
    if (!prepared) return fail(prepared.error());
    if (!process_->is_trusted()) ASSAY_RETURN_IF_ERROR(check_files(*prepared, frame.fds));
    made = complete(job, request, std::move(*prepared), std::move(frame.fds));
    return made ? Status{} : fail(made.error());
  };
  const Request about{
      .header = request, .fds = {}, .job = job.id, .case_id = {}, .cases = &job.cases};
  if (Status asked = ask(about, read, deadline); !asked) return fail(asked.error());
  return made;
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

Result<PreparedJob> Judge::prepare(const Job& job, const Deadline& deadline,
                                   const HostCases& host) {
  return ask_for_cases(job, prepare_header(job, process_->device(), host), deadline);
}

Status Judge::settle(const std::string& job, const Deadline& deadline) {
  if (!has_worked_) return {};
  Status settled = settle_in_turn(job, deadline);
  send_releases();  // releases that were requested while the judge was busy
  return settled;
}

Status Judge::settle_in_turn(const std::string& job, const Deadline& deadline) {
  Result<FifoSemaphore::Slot> turn = turn_.acquire(deadline);
  if (!turn && turn.error().code == ErrorCode::cancelled) return fail(turn.error());
  if (!has_worked_) return {};
  if (!turn) {
    interrupt();
    const Error busy = turn.error();
    turn = turn_.acquire(Deadline::after_ms(kInterruptMs, deadline.stop()));
    if (!turn) return fail(not_of_request(turn.error()));
    stop_for_timing();
    return fail(ErrorCode::unavailable, busy.message);
  }
  if (!process_->alive()) {
    note_end();
    stop_process();  // also what the process has left behind in its jail
    return {};
  }
  Status settled = ask_now({settle_header(job), {}, job, {}, kNoSetting}, parse_settled, deadline);
  if (settled || settled.error().code == ErrorCode::cancelled) return settled;
  // What the judge does on the device is unknown now, so it must not go on. If it is late, it is
  // ended for the timed job; otherwise the code that it executed has ended it.
  if (deadline.expired())
    stop_for_timing();
  else
    stop_process();
  return settled;
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
