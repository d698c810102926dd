#include "server/observe/line_file.h"

#include <fcntl.h>

#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace assay::server {
namespace {

constexpr mode_t kPrivateMode = 0600;
/// The minimum time between two lines of the log about lost lines. A full disk may lose thousands
/// of lines a second.
constexpr std::int64_t kComplaintIntervalMs = 10'000;

Result<UniqueFd> open_to_append(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kPrivateMode));
  if (!fd) return fail_errno("open " + path);
  return fd;
}

}  // namespace

Result<std::unique_ptr<LineFile>> LineFile::open(std::string name, std::string path,
                                                 const Clock& clock) {
  ASSAY_TRY(fd, open_to_append(path));
  return std::unique_ptr<LineFile>(
      new LineFile(std::move(name), std::move(path), std::move(fd), clock));
}

LineFile::LineFile(std::string name, std::string path, UniqueFd fd, const Clock& clock)
    : name_(std::move(name)),
      path_(std::move(path)),
      clock_(clock),
      fd_(std::move(fd)),
      next_complaint_ns_(clock.monotonic_ns()) {}

void LineFile::append(const std::string& line) {
  std::string why;
  std::uint64_t lost = 0;
  {
    const MutexLock lock(mutex_);
    const Status written = append_line(fd_.get(), path_, line);
    if (written) {
      ++lines_;
      return;
    }
    lost = ++failures_;
    const std::int64_t now_ns = clock_.monotonic_ns();
    if (now_ns < next_complaint_ns_) return;
    next_complaint_ns_ = now_ns + kComplaintIntervalMs * kNsPerMs;
    why = written.error().message;
  }
  log::error("lines of a log file are lost", {{"file", name_}, {"lost", lost}, {"error", why}});
}

Status LineFile::reopen() {
  ASSAY_TRY(fd, open_to_append(path_));
  const MutexLock lock(mutex_);
  fd_ = std::move(fd);
  return {};
}

std::uint64_t LineFile::lines() const {
  const MutexLock lock(mutex_);
  return lines_;
}

std::uint64_t LineFile::failures() const {
  const MutexLock lock(mutex_);
  return failures_;
}

}  // namespace assay::server
