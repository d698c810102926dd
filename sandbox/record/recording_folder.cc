#include "sandbox/record/recording_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/handle.h"
#include "base/log.h"
#include "base/private_path.h"
#include "base/unique_fd.h"
#include "sandbox/job/harness_digest.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 64;
/// The largest file: a payload, a header, and the line with the hash.
constexpr std::uintmax_t kMaxFileBytes = kMaxPayloadBytes + kCandidateHeader.bytes + 4'096;
/// If files are removed, the rest takes at most this share of the limit. So files are not removed
/// each time that a file is added.
constexpr double kKeptShare = 0.75;
constexpr const char* kPartEnding = ".part";
/// A file that is still incomplete after this time was left by a process that ended.
constexpr std::chrono::hours kLongestWrite(1);
constexpr std::string_view kHidingLayer = "root_filesystem";

/// Returns true if the jail of candidates does not show the folders of this user.
bool hides_folders(const PoolFacts& facts) {
  return std::any_of(facts.layers.begin(), facts.layers.end(), [](const LayerReport& layer) {
    return layer.name == kHidingLayer && layer.active;
  });
}

/// Returns the content of a file that belongs to this user and that no other user may change.
std::optional<std::string> read_own_file(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status = {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  if (static_cast<std::uintmax_t>(status.st_size) > kMaxFileBytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t got = ::read(fd.get(), text.data() + at, text.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<std::size_t>(got);
  }
  return text;
}

/// Returns the text of a file: a hash of the rest, the header of the candidate's message and the
/// launch plan.
std::string text_of(const CaseDone& done) {
  const std::string rest = to_header(done).dump() + '\n' + done.plan;
  return sha256_hex(rest) + '\n' + rest;
}

std::optional<CaseDone> parse(std::string_view text) {
  if (text.size() <= kHashDigits || text[kHashDigits] != '\n') return std::nullopt;
  const std::string_view rest = text.substr(kHashDigits + 1);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || sha256_hex(rest) != text.substr(0, kHashDigits))
    return std::nullopt;
  Result<nlohmann::json> header = parse_header(rest.substr(0, end), kCandidateHeader.values);
  if (!header) return std::nullopt;
  Frame frame{std::move(*header), std::string(rest.substr(end + 1)), {}};
  Result<CandidateMessage> message = parse_candidate(frame);
  if (!message || !std::holds_alternative<CaseDone>(*message)) return std::nullopt;
  return std::get<CaseDone>(std::move(*message));
}

struct KeptFile {
  fs::file_time_type written;
  std::int64_t bytes = 0;
  fs::path path;
};

/// Returns the files of the folder, without those that another process is writing.
std::vector<KeptFile> files_in(const fs::path& folder) {
  std::vector<KeptFile> files;
  std::error_code error;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;  // another process may remove the file
    KeptFile file{entry->last_write_time(gone), 0, entry->path()};
    if (!gone) file.bytes = static_cast<std::int64_t>(entry->file_size(gone));
    const bool is_written =
        entry->path().extension() == kPartEnding && now - file.written < kLongestWrite;
    if (!gone && !is_written) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

RecordingFolder::RecordingFolder(const SandboxConfig& config, std::int64_t max_bytes)
    : path_(fs::path(config.state_dir) / "recordings"),
      harness_(config.harness_dir),
      harness_sha256_(harness_digest(harness_)),
      programs_(config.python + '\0' + config.cuda_toolkit + '\0' + config.cuda_home),
      max_bytes_(max_bytes) {}

fs::path RecordingFolder::file_of(const std::string& key, const Versions& versions) const {
  std::string text = harness_sha256_ + '\0' + programs_;
  for (const std::string* part :
       {&versions.torch, &versions.triton, &versions.python, &versions.nvrtc, &key})
    text += '\0' + *part;
  return path_ / sha256_hex(text);
}

std::optional<CaseDone> RecordingFolder::find(const std::string& key,
                                              const PoolFacts& facts) const {
  if (!hides_folders(facts)) return std::nullopt;
  const std::optional<std::string> text = read_own_file(file_of(key, facts.versions));
  return text ? parse(*text) : std::nullopt;
}

void RecordingFolder::put(const std::string& key, const PoolFacts& facts, const CaseDone& done) {
  if (!hides_folders(facts) || harness_digest(harness_) != harness_sha256_) return;
  const std::string text = text_of(done);
  if (text.size() > kMaxFileBytes) return;
  const MutexLock lock(mutex_);
  const Status written = write(file_of(key, facts.versions), text);
  if (!written && !std::exchange(warned_, true))
    log::warning("recordings of oracles are not kept for the next start",
                 {{"error", written.error().message}});
  if (written) remove_oldest();
}

Status RecordingFolder::write(const fs::path& file, const std::string& text) const {
  ASSAY_RETURN_IF_ERROR(create_private_directory(path_));
  const fs::path part = path_ / (new_handle("recording") + kPartEnding);
  const UniqueFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return fail_errno("open " + part.string());
  Status written;
  for (std::size_t at = 0; at < text.size() && written;) {
    const ssize_t put = ::write(fd.get(), text.data() + at, text.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) written = fail_errno("write " + part.string());
    at += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
  if (written && ::rename(part.c_str(), file.c_str()) != 0)
    written = fail_errno("rename " + part.string());
  if (!written) ::unlink(part.c_str());
  return written;
}

void RecordingFolder::remove_oldest() const {
  std::vector<KeptFile> files = files_in(path_);
  std::int64_t bytes = 0;
  for (const KeptFile& file : files) bytes += file.bytes;
  if (bytes <= max_bytes_) return;
  std::sort(files.begin(), files.end(),
            [](const KeptFile& a, const KeptFile& b) { return a.written < b.written; });
  const double kept = kKeptShare * static_cast<double>(max_bytes_);
  for (const KeptFile& file : files) {
    if (static_cast<double>(bytes) <= kept) break;
    std::error_code error;
    fs::remove(file.path, error);
    bytes -= file.bytes;
  }
}

}  // namespace assay::sandbox
