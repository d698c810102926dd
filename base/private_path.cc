#include "base/private_path.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/unique_fd.h"

namespace assay {
namespace {

constexpr mode_t kPermissions = 0777;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

}  // namespace

Status create_private_directory(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return {};
  if (path.has_parent_path() && path.parent_path() != path) {
    std::filesystem::create_directories(path.parent_path(), code);
    if (code)
      return fail(ErrorCode::io, "create " + path.parent_path().string() + ": " + code.message());
  }
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fail_errno("mkdir " + path.string());
  return {};
}

Status create_private_file(const std::filesystem::path& path) {
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd && errno != EEXIST) return fail_errno("create " + path.string());
  return {};
}

Result<std::optional<unsigned>> narrow_permissions(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_errno("stat " + path.string());
  const mode_t mode = info.st_mode & kPermissions;
  const bool shared = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if ((mode & kOthers) == 0 || shared) return std::optional<unsigned>();
  if (::chmod(path.c_str(), mode & ~kOthers) != 0) return fail_errno("chmod " + path.string());
  return std::optional<unsigned>(mode);
}

std::string octal_mode(unsigned mode) {
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%04o", mode);
  return digits.data();
}

}  // namespace assay
