#include "server/app/stop_on_signal.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/log.h"

namespace assay::server {
namespace {

/// The end of a pipe to which the signal handler writes the number of each signal. It belongs to
/// the newest StopOnSignal. It is never closed, because a signal handler may still run in another
/// thread after the StopOnSignal is destroyed.
std::atomic<int> signal_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

/// The byte that ends the thread. No signal has this number.
constexpr unsigned char kEnd = 0;

/// Writes one byte to the pipe. A signal handler may call this function. If the pipe is full, the
/// byte is lost. Then the thread has thousands of signals to read, so nothing is missed.
void send(int pipe, unsigned char byte) { (void)!::write(pipe, &byte, sizeof(byte)); }

extern "C" void send_signal_number(int signal) {
  const int error_number = errno;
  send(signal_pipe.load(), static_cast<unsigned char>(signal));
  errno = error_number;
}

/// Calls the function. An exception must not end the server, so it goes to the log.
void call_and_log(const std::function<void()>& on_hangup) {
  try {
    on_hangup();
  } catch (const std::exception& error) {
    log::error("SIGHUP was not handled to the end", {{"error", error.what()}});
  } catch (...) {
    log::error("SIGHUP was not handled to the end", {{"error", "an unknown exception"}});
  }
}

}  // namespace

Result<std::unique_ptr<StopOnSignal>> StopOnSignal::install(std::function<void()> on_hangup) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe2");
  UniqueFd read_end(ends[0]);
  // The handler must never wait.
  if (::fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl");
  return std::unique_ptr<StopOnSignal>(
      new StopOnSignal(std::move(read_end), ends[1], std::move(on_hangup)));
}

StopOnSignal::StopOnSignal(UniqueFd read_end, int write_end, std::function<void()> on_hangup)
    : read_end_(std::move(read_end)),
      write_end_(write_end),
      on_hangup_(std::move(on_hangup)),
      thread_([this] { run(); }) {
  signal_pipe = write_end_;
  struct sigaction action {};
  action.sa_handler = send_signal_number;
  action.sa_flags = SA_RESTART;
  for (Handled& handled : handled_) {
    if (handled.signal != SIGHUP || on_hangup_) ::sigaction(handled.signal, &action, &handled.old);
  }
}

void StopOnSignal::run() {
  while (true) {
    unsigned char byte = kEnd;
    const ssize_t got = ::read(read_end_.get(), &byte, sizeof(byte));
    if (got < 0 && errno == EINTR) continue;
    if (got == 1 && byte == SIGHUP) {
      call_and_log(on_hangup_);
      continue;
    }
    const bool first = orderly_.request_stop();
    if (got == 1 && byte != kEnd && first) continue;
    at_once_.request_stop();
    if (got != 1 || byte == kEnd) return;
  }
}

StopOnSignal::~StopOnSignal() {
  for (Handled& handled : handled_) {
    if (handled.signal != SIGHUP || on_hangup_) ::sigaction(handled.signal, &handled.old, nullptr);
  }
  // The write must succeed, or the thread would wait for ever. The pipe can be full, so this thread
  // tries again until the other thread has read something.
  while (::write(write_end_, &kEnd, sizeof(kEnd)) < 0 && (errno == EAGAIN || errno == EINTR))
    std::this_thread::yield();
  thread_.join();
}

}  // namespace assay::server
