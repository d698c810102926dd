#include "tools/model/source_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownPathBytes = 200;
// How often a path is looked up again if another process renames folders at the same time.
constexpr int kLookups = 16;

/// Opens a file below `folder`. Returns -1 and sets errno on an error: EXDEV if the path leads out
/// of the folder.
int open_beneath(int folder, const std::string& path) {
  struct open_how how {};
  // O_NONBLOCK: the opening of a FIFO must not wait for its writer.
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int left = kLookups;; --left) {
    const long fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (fd >= 0 || left == 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
}

tl::unexpected<Error> invalid_path(const std::string& message) {
  return fail(ErrorCode::invalid_argument, message);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Returns the rest of `path` below `folder`, or nothing if it does not begin with `folder`.
std::optional<std::string> below(const fs::path& folder, const fs::path& path) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  if (end != folder.end() || rest == path.end()) return std::nullopt;
  fs::path left;
  for (auto part = rest; part != path.end(); ++part) left /= *part;
  return left.string();
}

Result<std::string> read_to_end(int fd, const std::string& shown, std::int64_t max_bytes) {
  std::string bytes;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + shown);
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(bytes.size()) > max_bytes)
      return invalid_path(shown + " is larger than " + std::to_string(max_bytes) +
                          " bytes, the limit for a source (source_bytes)");
  }
}

}  // namespace

SourceFolder::SourceFolder(UniqueFd fd, std::string name, std::string real_name)
    : fd_(std::move(fd)), name_(std::move(name)), real_name_(std::move(real_name)) {}

Result<SourceFolder> SourceFolder::open(const fs::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd)
    return fail(ErrorCode::not_found,
                "open the folder " + folder.string() + ": " + std::strerror(errno));
  if (const UniqueFd probe(open_beneath(fd.get(), ".")); !probe) {
    if (errno == ENOSYS || errno == EPERM)
      return fail(ErrorCode::unsupported,
                  "this machine has no openat2, without which no path can be kept inside of a "
                  "folder; Linux 5.6 or newer has it");
    return fail(ErrorCode::not_found,
                "read the folder " + folder.string() + ": " + std::strerror(errno));
  }
  std::error_code error;
  const fs::path name = fs::absolute(folder, error).lexically_normal();
  const fs::path real = fs::canonical(folder, error);
  if (error)
    return fail(ErrorCode::not_found,
                "find the folder " + folder.string() + ": " + error.message());
  // A path such as "folder/" has an empty last part, with which no other path begins.
  const fs::path plain =
      name.has_filename() || name == name.root_path() ? name : name.parent_path();
  return SourceFolder(std::move(fd), plain.string(), real.string());
}

Result<std::string> SourceFolder::relative(const std::string& path) const {
  if (path.empty()) return invalid_path("`path` is empty; name a file in " + name_);
  if (path.find('\0') != std::string::npos) return invalid_path("`path` has a zero byte");
  if (path.front() != '/') return path;
  const fs::path wanted = fs::path(path).lexically_normal();
  for (const std::string& folder : {name_, real_name_}) {
    if (const auto rest = below(folder, wanted)) return *rest;
  }
  return invalid_path("`path` is not in the folder " + name_ +
                      ", the only one that this server reads");
}

Result<std::string> SourceFolder::read(const std::string& path, std::int64_t max_bytes) const {
  ASSAY_TRY(rest, relative(path));
  const std::string shown = "'" + cut_end(escape_line(path), kShownPathBytes) + "'";
  const UniqueFd fd(open_beneath(fd_.get(), rest));
  if (!fd) {
    switch (errno) {
      case EXDEV:
        return invalid_path(shown + " leads out of the folder " + name_ +
                            ", the only one that this server reads");
      case ENOENT:
      case ENOTDIR: return fail(ErrorCode::not_found, "there is no file " + shown + " in " + name_);
      case EACCES: return fail(ErrorCode::permission_denied, "the server may not read " + shown);
      case ELOOP: return invalid_path(shown + " has too many symbolic links");
      case ENAMETOOLONG: return invalid_path(shown + " is too long for a path");
      case ENXIO: return invalid_path(shown + " is a socket or a device, not a regular file");
      default: return fail_errno("open " + shown);
    }
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_errno("fstat " + shown);
  if (!S_ISREG(info.st_mode))
    return invalid_path(shown + " is " + kind_of(info.st_mode) + ", not a regular file");
  return read_to_end(fd.get(), shown, max_bytes);
}

}  // namespace assay::tools
