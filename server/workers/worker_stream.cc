#include "server/workers/worker_stream.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/exit_status.h"
#include "base/text.h"

namespace assay::server {
namespace {

using sandbox::Deadline;
using sandbox::FrameReceiver;

constexpr std::string_view kMagic = "ASY1";            // docs/reference/frames.md
constexpr std::size_t kShownBytes = 200;               // of a banner or of stderr, in a message
constexpr std::int64_t kExitMs = 2'000;                // a command that closed its output ends soon
constexpr int kNoCommand = 127, kNotExecutable = 126;  // exit statuses of the shell

/// Waits until bytes have arrived or the stream has ended. Returns false at the deadline.
bool wait_for_bytes(int socket, const Deadline& deadline) {
  while (!deadline.over()) {
    std::array<pollfd, 1> entries{{{socket, POLLIN, 0}}};
    if (sandbox::poll_until(entries, deadline) > 0) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<WorkerStream>> WorkerStream::start(sandbox::Spawner& spawner,
                                                          const std::string& command,
                                                          const std::string& log) {
  ASSAY_TRY(pair, sandbox::make_socket_pair());
  // The shell replaces itself by the command, so a signal to this process reaches the command.
  const sandbox::SpawnRequest request{.argv = {"/bin/sh", "-c", "exec " + command},
                                      .environment = sandbox::trusted_environment(),
                                      .inherit = {},
                                      .log = log,
                                      .output = pair.theirs.get(),
                                      .input = pair.theirs.get(),
                                      .own_session = true};
  ASSAY_TRY(process, spawner.spawn(request));
  return std::unique_ptr<WorkerStream>(
      new WorkerStream(std::move(process), std::move(pair.ours), command, log));
}

WorkerStream::~WorkerStream() { ::unlink(log_.c_str()); }

std::string WorkerStream::words() const { return escape_text(sandbox::tail_of(log_, kShownBytes)); }

std::string WorkerStream::banner() const {
  std::array<char, kShownBytes> bytes{};
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got <= 0) return {};
  const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  const std::size_t size = std::min(text.size(), kMagic.size());
  return text.substr(0, size) == kMagic.substr(0, size) ? std::string()
                                                        : escape_text(std::string(text));
}

Error WorkerStream::no_hello() {
  const std::optional<ExitStatus> status = process_.wait(Deadline::after_ms(kExitMs));
  const std::string said = words();
  std::string message = "the command `" + command_ + "` ended before the worker's hello";
  if (status) message += " (" + describe(*status) + ")";
  if (!said.empty()) message += ": " + said;
  if (status && status->how == ExitStatus::How::exited &&
      (status->value == kNoCommand || status->value == kNotExecutable))
    message += "; give the path of a program that this server can execute";
  else
    message += "; run the command by hand, it must print only frames";
  return {ErrorCode::unavailable, std::move(message)};
}

Result<WorkerHello> WorkerStream::greet(const Deadline& deadline, const WorkerRevision& mine) {
  if (!wait_for_bytes(socket_.get(), deadline)) {
    if (deadline.cancelled()) return fail(ErrorCode::cancelled, "cancelled");
    return fail(ErrorCode::resource_exhausted,
                "the command `" + command_ + "` started no worker in time: " + words() +
                    "; look at its engine (srun needs --unbuffered), or raise the pool's start_s");
  }
  if (const std::string printed = banner(); !printed.empty())
    return fail(ErrorCode::unavailable,
                "the command `" + command_ + "` printed a text before the worker's hello: \"" +
                    printed +
                    "\"; make it print nothing on stdout, for example with `ssh -q`, or by moving "
                    "the text of a shell's start file to stderr");
  while (true) {
    switch (receiver_.receive()) {
      case FrameReceiver::State::frame: {
        Result<WorkerHello> hello = read_hello(receiver_.take());
        if (!hello)
          return fail(ErrorCode::unavailable, "the worker was refused: " + hello.error().message);
        std::string other = difference(mine, hello->revision);
        if (other.empty()) other = weakness(mine, *hello);
        if (other.empty()) return hello;
        return fail(ErrorCode::unavailable,
                    "the worker on " + escape_text(hello->host) + " was refused: " + other);
      }
      case FrameReceiver::State::again: break;
      default: return fail(no_hello());
    }
    if (!wait_for_bytes(socket_.get(), deadline))
      return fail(deadline.cancelled() ? ErrorCode::cancelled : ErrorCode::resource_exhausted,
                  "the worker's hello is incomplete");
  }
}

Result<sandbox::Frame> WorkerStream::receive(std::int64_t silence_ms) {
  while (true) {
    switch (receiver_.receive()) {
      case FrameReceiver::State::frame: return receiver_.take();
      case FrameReceiver::State::again: break;
      case FrameReceiver::State::malformed: return fail(ErrorCode::corrupt, receiver_.message());
      case FrameReceiver::State::broken: return fail(ErrorCode::io, receiver_.message());
      case FrameReceiver::State::closed:
      case FrameReceiver::State::truncated: return fail(ErrorCode::unavailable, "its stream ended");
    }
    if (!wait_for_bytes(socket_.get(), Deadline::after_ms(silence_ms)))
      return fail(ErrorCode::unavailable,
                  "it sent nothing for " + std::to_string(silence_ms) + " ms");
  }
}

Status WorkerStream::send(const Message& message, const Deadline& deadline) {
  Result<sandbox::FifoSemaphore::Slot> turn = sending_.acquire(deadline);
  if (!turn) return fail(turn.error());
  return sandbox::send_frame(socket_.get(), message.header, message.payload, {}, deadline);
}

void WorkerStream::end_input() { ::shutdown(socket_.get(), SHUT_WR); }

void WorkerStream::hang_up() { ::shutdown(socket_.get(), SHUT_RDWR); }

std::string WorkerStream::finish(std::int64_t grace_ms) {
  std::optional<ExitStatus> status = process_.wait(Deadline::after_ms(grace_ms));
  if (!status && process_.pid() > 0) {
    ::kill(process_.pid(), SIGTERM);
    status = process_.wait(Deadline::after_ms(kExitMs));
  }
  if (!status) {
    process_.kill();
    status = process_.wait(Deadline::after_ms(kExitMs));
  }
  return status ? describe(*status) : "still running";
}

}  // namespace assay::server
