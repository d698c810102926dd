#include "sandbox/wire/deadline.h"

#include <sys/eventfd.h>

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kNoEventMs = 50;  // duration of a poll if no event descriptor can be created

int poll_for(std::span<pollfd> entries, std::int64_t ms) {
  const auto most = static_cast<std::int64_t>(std::numeric_limits<int>::max());
  return ::poll(entries.data(), entries.size(), static_cast<int>(std::min(ms, most)));
}

}  // namespace

int poll_until(std::span<pollfd> entries, const Deadline& deadline) {
  if (!deadline.stop().stop_possible()) return poll_for(entries, deadline.remaining_ms());
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  if (!event) return poll_for(entries, std::min(deadline.remaining_ms(), kNoEventMs));
  // If the stop is requested during the poll, this callback runs in the thread that requests the
  // stop. If the stop was requested earlier, the callback runs here, in the constructor.
  const std::stop_callback wake(deadline.stop(), [&] { (void)!::eventfd_write(event.get(), 1); });
  std::vector<pollfd> all(entries.begin(), entries.end());
  all.push_back({event.get(), POLLIN, 0});
  const int ready = poll_for(all, deadline.remaining_ms());
  if (ready < 0) return ready;
  std::copy(all.begin(), all.end() - 1, entries.begin());
  return all.back().revents != 0 ? ready - 1 : ready;
}

}  // namespace assay::sandbox
