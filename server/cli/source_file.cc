#include "server/cli/source_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/unique_fd.h"

namespace assay::server {
namespace {

/// Strict enough to tell a source from a picture: no NUL, and well-formed UTF-8 lead and continuation bytes.
bool looks_like_text(const std::string& bytes) {
  std::size_t continuation = 0;
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte == 0) return false;
    if (continuation > 0) {
      if ((byte & 0xC0U) != 0x80U) return false;
      --continuation;
    } else if (byte >= 0x80U) {
      if ((byte & 0xE0U) == 0xC0U) {
        continuation = 1;
      } else if ((byte & 0xF0U) == 0xE0U) {
        continuation = 2;
      } else if ((byte & 0xF8U) == 0xF0U) {
        continuation = 3;
      } else {
        return false;
      }
    }
  }
  return continuation == 0;
}

}  // namespace

Result<std::string> read_source(const std::string& path, std::int64_t max_bytes) {
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
    if (got == 0) break;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(bytes.size()) > max_bytes) {
      return fail(ErrorCode::corrupt, path + " is larger than " + std::to_string(max_bytes) + " bytes, the limit for a submission (source_bytes)");
    }
  }
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos) return fail(ErrorCode::corrupt, path + " is empty; a submission defines the operator's entry function");
  if (!looks_like_text(bytes)) return fail(ErrorCode::corrupt, path + " is binary; a submission is UTF-8 Python source");
  return bytes;
}

}  // namespace assay::server
