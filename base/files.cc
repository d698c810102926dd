#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "base/unique_fd.h"

namespace assay {
namespace {

Result<off_t> size_of(int fd, const std::string& path) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return fail_errno("fstat " + path);
  return about.st_size;
}

}  // namespace

Status append_line(int fd, const std::string& path, const std::string& line) {
  const Result<off_t> before = size_of(fd, path);
  if (!before) return fail(before.error());
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(fd, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int why = errno;
      if (done > 0 && ::ftruncate(fd, *before) != 0)
        return fail_errno("write " + path + " failed, and so did ftruncate");
      return fail_errno("write " + path, why);
    }
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Status reserve_space(int fd, const std::string& path, std::int64_t bytes) {
  const Result<off_t> end = size_of(fd, path);
  if (!end) return fail(end.error());
  int done = 0;
  do {
    done = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, *end, bytes);
  } while (done != 0 && errno == EINTR);
  if (done == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return fail_errno("fallocate " + path);
}

Status release_space(int fd, const std::string& path) {
  const Result<off_t> end = size_of(fd, path);
  if (!end) return fail(end.error());
  // If a file is truncated to its own size, the kernel frees the space that was reserved after its
  // end.
  if (::ftruncate(fd, *end) != 0) return fail_errno("ftruncate " + path);
  return {};
}

std::string read_small_file(const std::string& path, std::size_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> chunk;
  while (fd && text.size() < limit_bytes) {
    const ssize_t got =
        ::read(fd.get(), chunk.data(), std::min(chunk.size(), limit_bytes - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::int64_t> ProcessStat::value(StatField field) const {
  constexpr std::size_t kFirstAfterName = 3;
  const std::size_t at = static_cast<std::size_t>(field) - kFirstAfterName;
  if (at >= after_name.size()) return std::nullopt;
  return std::strtoll(after_name[at].c_str(), nullptr, 10);
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  return ProcessStat{std::atoi(std::string(text.substr(0, text.find(' '))).c_str()),
                     split(text.substr(name_end + 1), " \n")};
}

}  // namespace assay
