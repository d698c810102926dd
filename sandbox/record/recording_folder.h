// RecordingFolder keeps the recordings of oracles in files, so that a server that starts again, or
// another server of the same user, need not compile the oracles again.
//
//   RecordingFolder folder(config, RecordingFolder::kMaxBytes);
//   folder.put(key, facts, done);
//   std::optional<CaseDone> found = folder.find(key, facts);  // also after a restart
//
// Only the supervisor uses the folder, and recordings of submissions are never in it. The folder is
// used only if the jail of candidates has its own root filesystem, which does not show the folder.
// So no submission can read or write it. The name of a file is a hash of all that the recording
// depends on: the key (RecordingCache::key), the files of the harness, the versions of Python,
// PyTorch, Triton and NVRTC, and the folders of CUDA. If the files of the harness were changed
// since this object was made, nothing is kept, because nobody knows which files a candidate has
// imported. A file begins with a hash of the rest, so a damaged file is not used. A file that
// another user owns or may write to is not used either.
//
// The size is bounded. If the files take more than `max_bytes` after one was written, those that
// were written first are removed. A file that cannot be written is only not kept, and the log says
// so once. Thread-safe. Several processes may use the same folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

class RecordingFolder {
 public:
  static constexpr std::int64_t kMaxBytes = 1LL << 30;

  /// Reads the files of the harness. The folder is `recordings` in the configuration's state
  /// folder; the first put() makes it.
  RecordingFolder(const SandboxConfig& config, std::int64_t max_bytes);

  /// Returns the recording that was kept for the key and for candidates with these facts.
  std::optional<CaseDone> find(const std::string& key, const PoolFacts& facts) const;
  /// Keeps a recording. Its outputs are not kept.
  void put(const std::string& key, const PoolFacts& facts, const CaseDone& done);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path file_of(const std::string& key, const Versions& versions) const;
  Status write(const std::filesystem::path& file, const std::string& text) const;
  void remove_oldest() const;

  const std::filesystem::path path_, harness_;
  const std::string harness_sha256_;
  const std::string programs_;  // the paths of Python and CUDA
  const std::int64_t max_bytes_;
  Mutex mutex_;  // held while a file is written and old files are removed
  bool warned_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::sandbox
