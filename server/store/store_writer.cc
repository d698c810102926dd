#include "server/store/store_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/rfc3339.h"
#include "base/unique_fd.h"

namespace assay::server {
namespace {

constexpr std::size_t kMostLockBytes = 128;

/// Removes the number at the start of `text`, and the character behind it. Returns 0 if there is
/// no positive number.
std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return 0;
  const auto used = static_cast<std::size_t>(end - text.data());
  text.remove_prefix(std::min(used + 1, text.size()));
  return number;
}

}  // namespace

std::string to_string(const StoreWriter& writer) {
  if (writer.pid == 0) return "another Assay";
  return "process " + std::to_string(writer.pid) +
         (writer.since_unix_ms == 0 ? "" : ", since " + iso_time(writer.since_unix_ms));
}

std::string writer_text(const StoreWriter& writer) {
  return std::to_string(writer.pid) + " " + std::to_string(writer.since_unix_ms) + "\n";
}

StoreWriter writer_from(const std::string& text) {
  std::string_view rest = text;
  StoreWriter writer;
  writer.pid = take_number(rest);
  if (writer.pid != 0) writer.since_unix_ms = take_number(rest);
  return writer;
}

std::optional<StoreWriter> other_writer(const std::filesystem::path& store) {
  const std::string path = store.string() + ".lock";
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return writer_from(read_small_file(path, kMostLockBytes));
}

Status name_writer(int lock_fd, const std::string& lock_path) {
  const std::string text =
      writer_text({.pid = ::getpid(), .since_unix_ms = system_clock().unix_ms()});
  if (::ftruncate(lock_fd, 0) != 0) return fail_errno("ftruncate " + lock_path);
  if (::pwrite(lock_fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + lock_path);
  return {};
}

}  // namespace assay::server
