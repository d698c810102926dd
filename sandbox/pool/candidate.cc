#include "sandbox/pool/candidate.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "sandbox/jail/cgroup.h"
#include "sandbox/pool/process.h"
#include "sandbox/pool/process_facts.h"

namespace assay::sandbox {
namespace {

// The time that a killed candidate gets to end, in milliseconds. A process with a GPU takes seconds
// to end its context while other processes use the driver.
constexpr std::int64_t kCandidateReapMs = 15'000;
constexpr std::size_t kDrainBytes = 64U << 10;
constexpr int kYieldingNiceness = 6;  // lowers the CPU priority even without a cgroup
// The number of reads from one pipe before next() checks the deadline again.
constexpr int kDrainRounds = 64;

struct Pipe {
  UniqueFd read_end, write_end;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe2");
  Pipe made{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl(O_NONBLOCK)");
  return made;
}

/// Returns the id of the process to which a pidfd refers, in the pid namespace of this process.
Result<pid_t> pid_behind(int pidfd) {
  const std::string text = read_small_file("/proc/self/fdinfo/" + std::to_string(pidfd));
  const std::size_t at = text.find("\nPid:");
  const int pid = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 5);
  if (pid <= 0) return fail(ErrorCode::unavailable, "the candidate's process id is not known here");
  return pid;
}

/// Waits until the process of a pidfd has ended. Returns false if it still runs after `ms`.
bool wait_for_end(int pidfd, std::int64_t ms) {
  const Deadline deadline = Deadline::after_ms(ms);
  while (true) {
    std::array<pollfd, 1> entries{{{pidfd, POLLIN, 0}}};
    if (poll_until(entries, deadline) > 0) return true;
    if (deadline.expired()) return false;
  }
}

/// Reads the bytes that have arrived in the pipe. Returns false at the end of the stream.
bool drain_pipe(UniqueFd& pipe, OutputRing& ring) {
  std::array<char, kDrainBytes> buffer;
  for (int round = 0; pipe && round < kDrainRounds; ++round) {
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got > 0)
      ring.append({buffer.data(), static_cast<std::size_t>(got)});
    else if (got == 0)
      pipe.reset();
    else if (errno != EINTR)
      return true;
  }
  return pipe.valid();
}

/// Returns a cgroup name that no other candidate has. The cgroup of an earlier candidate of this
/// slot may still exist. Its counters of exceeded limits must not be mistaken for counters of the
/// new candidate.
std::string cgroup_name(int slot) {
  static std::atomic<std::uint64_t> candidates{0};
  return "assay-" + std::to_string(::getpid()) + "-" + std::to_string(slot) + "-" +
         std::to_string(candidates++);
}

}  // namespace

Candidate::Candidate(std::shared_ptr<Zygote> zygote, int slot, const Limits& limits)
    : zygote_(std::move(zygote)),
      slot_(slot),
      limits_(limits),
      out_(limits.stdout_bytes),
      err_(limits.stdout_bytes) {}

Result<std::unique_ptr<Candidate>> Candidate::park(std::shared_ptr<Zygote> zygote, int slot,
                                                   const Limits& limits,
                                                   const SandboxConfig& config,
                                                   const Deadline& deadline) {
  std::unique_ptr<Candidate> candidate(new Candidate(std::move(zygote), slot, limits));
  if (Status forked = candidate->fork(config, deadline); !forked) return fail(forked.error());
  CandidateEvent event = candidate->next(deadline);
  if (event.kind != CandidateEvent::Kind::message ||
      !std::holds_alternative<Parked>(event.message)) {
    candidate->end();
    return fail(ErrorCode::unavailable,
                "a candidate did not park: " + event.text + candidate->err_.text());
  }
  const std::vector<LayerReport>& jail = std::get<Parked>(event.message).layers;
  candidate->layers_.insert(candidate->layers_.begin(), jail.begin(), jail.end());
  for (const LayerReport& layer : candidate->layers_) {
    if (layer.active && layer.name == "pid_namespace") candidate->group_ = -1;
    if (layer.active || config.isolation == Isolation::best_effort) continue;
    return fail(ErrorCode::unavailable,
                "strict isolation needs the layer " + layer.name + ": " + layer.detail);
  }
  return candidate;
}

Status Candidate::fork(const SandboxConfig& config, const Deadline& deadline) {
  Result<SocketPair> sockets = make_socket_pair();
  if (!sockets) return fail(sockets.error());
  Result<Pipe> out = make_pipe(), err = make_pipe();
  if (!out || !err) return fail(out ? err.error() : out.error());

  const bool strict = config.isolation == Isolation::strict, yields = config.candidates_yield;
  LayerList layers(strict);
  cgroup_ = Cgroup::create(cgroup_name(slot_),
                           {limits_.memory_bytes, limits_.processes, limits_.cpu_percent, yields},
                           layers);
  if (Status complete = layers.status(); !complete) return complete;
  const ForkRequest request{
      slot_,
      strict,
      limits_.tmp_bytes,
      limits_.processes + (cgroup_.limits_processes() ? limits_.processes : 0),
      cgroup_.limits_memory() ? 0 : limits_.memory_bytes,
      yields ? kYieldingNiceness : 0,
      zygote_->devices()};
  Result<UniqueFd> pidfd = zygote_->fork(request, sockets->theirs.get(), out->write_end.get(),
                                         err->write_end.get(), deadline);
  if (!pidfd) return fail(pidfd.error());
  pidfd_ = std::move(*pidfd);
  const Result<pid_t> pid = pid_behind(pidfd_.get());
  Status grouped = pid ? cgroup_.add(*pid) : Status(tl::unexpected(pid.error()));
  if (pid) pid_ = group_ = *pid;
  grouped_ = grouped.has_value();
  layers_ = layers.layers();
  if (!grouped) {
    for (LayerReport& layer : layers_) layer = {layer.name, false, grouped.error().message};
    // A child that has already ended cannot be added to a cgroup either. With strict isolation, it
    // ended because another layer is missing. Its output names that layer, so the caller reports
    // the output and not this error.
    if (strict && !exited()) return grouped;
  }
  socket_ = std::move(sockets->ours);
  out_pipe_ = std::move(out->read_end);
  err_pipe_ = std::move(err->read_end);
  receiver_ = FrameReceiver(socket_.get(), kCandidateHeader);
  return {};
}

bool Candidate::suits(const Limits& limits) const {
  return limits.memory_bytes == limits_.memory_bytes && limits.processes == limits_.processes &&
         limits.cpu_percent == limits_.cpu_percent && limits.tmp_bytes == limits_.tmp_bytes &&
         limits.stdout_bytes == limits_.stdout_bytes &&
         limits.output_flood_bytes == limits_.output_flood_bytes;
}

bool Candidate::alive() const { return zygote_->alive() && !exited(); }

Status Candidate::send(const CandidateJob& job, const std::string& source,
                       const std::vector<int>& fds, const Deadline& deadline) {
  return send_frame(socket_.get(), to_header(job), source, fds, deadline);
}

Status Candidate::send(const CandidateBatch& batch, const std::vector<int>& fds,
                       const Deadline& deadline) {
  return send_frame(socket_.get(), to_header(batch), {}, fds, deadline);
}

std::optional<CpuTimes> Candidate::cpu_times() const {
  std::optional<CpuTimes> times = sandbox::cpu_times(pid_);
  const std::optional<std::int64_t> counted = grouped_ ? cgroup_.used_cpu_ms() : std::nullopt;
  if (!times || !counted) return times;
  return CpuTimes{.used_ms = *counted, .waited_ms = times->waited_ms, .counts_all = true};
}

CandidateEvent Candidate::next(const Deadline& deadline) {
  using Kind = CandidateEvent::Kind;
  while (true) {
    if (deadline.cancelled()) return {Kind::cancelled, {}, "cancelled"};
    if (deadline.expired()) return {Kind::timeout, {}, "the deadline passed"};
    if (!drain())
      return {Kind::flood,
              {},
              "it printed more than " + std::to_string(limits_.output_flood_bytes) + " bytes"};
    const bool was_exited = exited();
    switch (receiver_.receive()) {
      case FrameReceiver::State::frame: return on_frame();
      case FrameReceiver::State::closed:
      case FrameReceiver::State::truncated: return {Kind::ended, {}, receiver_.message()};
      case FrameReceiver::State::malformed: return {Kind::malformed, {}, receiver_.message()};
      case FrameReceiver::State::broken: return {Kind::broken, {}, receiver_.message()};
      case FrameReceiver::State::again: break;
    }
    // The candidate has ended, and all its messages have been read. The function does not wait for
    // the end of the stream, because the candidate's children may still keep the stream open.
    if (was_exited) return {Kind::ended, {}, "the process ended"};
    std::array<pollfd, 4> entries{{{socket_.get(), POLLIN, 0},
                                   {out_pipe_.get(), POLLIN, 0},
                                   {err_pipe_.get(), POLLIN, 0},
                                   {pidfd_.get(), POLLIN, 0}}};
    poll_until(entries, deadline);
  }
}

CandidateEvent Candidate::on_frame() {
  Frame frame = receiver_.take();
  Result<CandidateMessage> message = parse_candidate(frame);
  if (!message) return {CandidateEvent::Kind::malformed, {}, message.error().message};
  return {CandidateEvent::Kind::message, std::move(*message), {}};
}

std::optional<ExitStatus> Candidate::end(std::int64_t grace_ms) {
  if (ended_) return status_;
  ended_ = true;
  if (!pidfd_) return status_;
  // A process that has begun to end closes its channel before it has ended. It gets more time, so
  // that the status tells how it ended by itself.
  if (grace_ms > 0 && !wait_for_end(pidfd_.get(), grace_ms) && is_ending(pid_))
    wait_for_end(pidfd_.get(), kCandidateReapMs);
  was_killed_ = !exited();
  kill_by_pidfd(pidfd_.get());
  if (group_ > 1) ::kill(-group_, SIGKILL);
  if (was_killed_) (void)cgroup_.hurry_end();  // a failure only delays the end
  const Deadline reaped = Deadline::after_ms(kCandidateReapMs);
  status_ = zygote_->wait_exit(slot_, reaped);
  // A zygote that has ended tells nothing, but its candidate still needs time to end.
  wait_for_end(pidfd_.get(), reaped.remaining_ms());
  drain();
  return status_;
}

bool Candidate::has_unread() {
  const FrameReceiver::State state = receiver_.receive();
  return state == FrameReceiver::State::frame || state == FrameReceiver::State::truncated ||
         state == FrameReceiver::State::malformed;
}

bool Candidate::drain() {
  drain_pipe(out_pipe_, out_);
  drain_pipe(err_pipe_, err_);
  return out_.total() + err_.total() <= limits_.output_flood_bytes;
}

bool Candidate::exited() const {
  pollfd entry{pidfd_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void OutputRing::append(std::string_view bytes) {
  total_ += static_cast<std::int64_t>(bytes.size());
  const std::size_t room = std::min(half_ - head_.size(), bytes.size());
  head_.append(bytes.substr(0, room));
  bytes.remove_prefix(room);
  if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
  tail_.append(bytes);
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

std::string OutputRing::text() const {
  const std::string_view tail =
      std::string_view(tail_).substr(tail_.size() > half_ ? tail_.size() - half_ : 0);
  const std::int64_t cut = total_ - static_cast<std::int64_t>(head_.size() + tail.size());
  if (cut == 0) return head_ + std::string(tail);
  return head_ + "\n[... " + std::to_string(cut) + " bytes cut ...]\n" + std::string(tail);
}

}  // namespace assay::sandbox
