#include "server/app/stop_on_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace assay::server {
namespace {

/// The eventfd to which the signal handler writes. It belongs to the newest StopOnSignal. It is
/// never closed, because a signal handler may still run in another thread after the StopOnSignal is
/// destroyed.
std::atomic<int> signal_event{-1};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

/// Writes to the eventfd, which wakes the thread that reads it. A signal handler may call this
/// function.
void wake(int event) {
  const std::uint64_t one = 1;
  (void)!::write(event, &one, sizeof(one));
}

extern "C" void wake_on_signal(int) {
  const int error_number = errno;
  wake(signal_event.load());
  errno = error_number;
}

}  // namespace

Result<std::unique_ptr<StopOnSignal>> StopOnSignal::install() {
  const int event = ::eventfd(0, EFD_CLOEXEC);
  if (event < 0) return fail_errno("eventfd");
  return std::unique_ptr<StopOnSignal>(new StopOnSignal(event));
}

StopOnSignal::StopOnSignal(int event)
    : event_(event), thread_([this] {
        std::uint64_t count = 0;
        while (::read(event_, &count, sizeof(count)) < 0 && errno == EINTR) {
        }
        stop_.request_stop();
      }) {
  signal_event = event;
  struct sigaction action {};
  action.sa_handler = wake_on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &old_interrupt_);
  ::sigaction(SIGTERM, &action, &old_terminate_);
}

StopOnSignal::~StopOnSignal() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  wake(event_);
  thread_.join();
}

}  // namespace assay::server
