#include "server/app/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"

namespace assay::server {

Result<std::string> read_file_bytes(const std::string& path, std::int64_t max_bytes,
                                    const std::string& what) {
  const bool standard_input = path == "-";
  UniqueFd owned;
  if (!standard_input) {
    owned.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!owned) return fail(ErrorCode::not_found, fail_errno("open " + path).value().message);
    struct stat info {};
    if (::fstat(owned.get(), &info) != 0) return fail_errno("fstat " + path);
    if (!S_ISREG(info.st_mode)) return fail(ErrorCode::not_found, path + " is not a regular file");
  }
  const int fd = standard_input ? STDIN_FILENO : owned.get();
  std::string bytes;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path);
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(bytes.size()) > max_bytes)
      return fail(ErrorCode::corrupt, path + " is larger than " + std::to_string(max_bytes) +
                                          " bytes, the limit for " + what);
  }
}

}  // namespace assay::server
