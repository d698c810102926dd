#include "server/app/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <system_error>

#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::server {
namespace {

/// Returns true if the bytes are valid UTF-8 without zero bytes. Returns false for a binary file,
/// such as an image.
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

constexpr std::size_t kMaxNameBytes = 120;

std::string plain(const std::string& name) {
  std::string text = name.substr(0, kMaxNameBytes);
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return c >= 0x80 || (std::isalnum(c) == 0 && c != '_' && c != '-'); },
      '-');
  return text.empty() ? "unnamed" : text;
}

Status write(const std::filesystem::path& path, const std::string& bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"),
                                                             &std::fclose);
  if (!file) return fail_errno("open " + path.string());
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0)
    return fail_errno("write " + path.string());
  return {};
}

}  // namespace

Result<std::string> read_file_bytes(const std::string& path, std::int64_t max_bytes,
                                    const std::string& what) {
  const bool standard_input = path == "-";
  UniqueFd owned;
  if (!standard_input) {
    owned.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!owned) return fail(ErrorCode::not_found, "open " + path + ": " + std::strerror(errno));
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

Result<std::string> read_regular_file(const std::string& path, std::int64_t max_bytes,
                                      const std::string& what) {
  return read_file_bytes(path == "-" ? "./-" : path, max_bytes, what);
}

Result<std::string> read_private_file(const std::string& path, std::int64_t max_bytes,
                                      const std::string& what) {
  const std::string name = what + " " + path;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return fail(ErrorCode::not_found, "the " + name + " cannot be read: " + std::strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size > max_bytes)
    return fail(ErrorCode::corrupt, "the " + name + " must be a regular file of at most " +
                                        std::to_string(max_bytes) + " bytes");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(ErrorCode::permission_denied,
                "other users can access the " + name + "; type: chmod 600 " + path);
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::not_found, "the " + name + " cannot be read: " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

Result<std::string> read_source(const std::string& path, std::int64_t max_bytes) {
  Result<std::string> bytes = read_file_bytes(path, max_bytes, "a submission (source_bytes)");
  if (!bytes) return bytes;
  if (bytes->find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::corrupt, path + " is empty; a submission is the complete source");
  if (!looks_like_text(*bytes))
    return fail(ErrorCode::corrupt, path + " is binary; a submission is UTF-8 source text");
  return bytes;
}

Result<std::vector<std::filesystem::path>> write_artifacts(
    const std::vector<sandbox::Artifact>& artifacts, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::io, "make folder " + folder.string() + ": " + error.message());
  std::vector<std::filesystem::path> files;
  std::set<std::string> taken;
  for (const sandbox::Artifact& artifact : artifacts) {
    const std::string stem = plain(artifact.name);
    const std::string suffix = "." + plain(artifact.kind);
    // The number makes the name differ from all earlier ones, also from an artifact's own "a-2".
    std::string name = stem + suffix;
    for (int number = 2; !taken.insert(name).second; ++number)
      name = stem + "-" + std::to_string(number) + suffix;
    const std::filesystem::path path = folder / name;
    ASSAY_RETURN_IF_ERROR(write(path, artifact.bytes));
    files.push_back(path);
  }
  return files;
}

}  // namespace assay::server
