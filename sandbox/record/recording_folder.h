// RecordingFolder keeps the recordings of oracles in files, so that a server that starts again, or
// another server of the same user, need not compile the oracles again.
//
//   RecordingFolder folder(config, RecordingFolder::kMaxBytes);
//   folder.put(key, versions, done);
//   std::optional<CaseDone> found = folder.find(key, versions);  // also after a restart
//
// Only the supervisor uses the folder. No jail shows it, so no submission can read or write it, and
// recordings of submissions are never in it. The name of a file is a hash of all that the recording
// depends on: the key (RecordingCache::key), the files of the harness, the versions of Python,
// PyTorch, Triton and NVRTC, and the folders of CUDA. A file begins with a hash of the rest, so a
// damaged file is not used. A file that another user owns or may write to is not used either.
//
// The size is bounded. If the files take more than `max_bytes`, those that were written first are
// removed. A file that cannot be written is only not kept, and the log says so once. Thread-safe.
// Several processes may use the same folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/versions.h"

namespace assay::sandbox {

class RecordingFolder {
 public:
  /// The recordings of all 164 oracles for one target take about a third of this.
  static constexpr std::int64_t kMaxBytes = 1LL << 30;

  /// Does not touch the disk. The folder is `recordings` in the configuration's state folder.
  RecordingFolder(const SandboxConfig& config, std::int64_t max_bytes);

  /// Returns the recording that was kept for the key and these versions.
  std::optional<CaseDone> find(const std::string& key, const Versions& versions);
  /// Keeps a recording. Its outputs are not kept.
  void put(const std::string& key, const Versions& versions, const CaseDone& done);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path file_of(const std::string& key, const Versions& versions);
  Status write(const std::filesystem::path& file, const std::string& text);
  void remove_oldest() ASSAY_REQUIRES(mutex_);

  const std::filesystem::path path_, harness_;
  const std::string programs_;  // the paths of Python and CUDA
  const std::int64_t max_bytes_;
  Mutex mutex_;
  std::string harness_sha256_ ASSAY_GUARDED_BY(mutex_);  // empty until it is needed
  /// The total size of the files: computed at the first put(). Other processes also add files, so
  /// the size is computed again before files are removed.
  std::optional<std::int64_t> bytes_ ASSAY_GUARDED_BY(mutex_);
  bool warned_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::sandbox
