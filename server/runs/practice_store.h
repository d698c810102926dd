// Opens the store of a server. If another process uses the store, a server can work with a store of
// its own instead: a temporary one, which is removed with it. Such a server is for practice only,
// because its runs would be lost. A StoreChoice belongs to one thread.
//
//   Result<StoreChoice> chosen = open_store_or_practice("assay.db", StoreMode::read_write, {});
//   if (chosen && !chosen->practice_only.empty()) log::warning(chosen->practice_only);
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "server/store/store.h"
#include "server/store/store_limits.h"

namespace assay::server {

/// A private temporary folder. The destructor removes it and what it contains. A process that is
/// killed leaves its folder; the next make() removes it. A lock on a file in the folder says
/// whether its owner lives.
class PracticeFolder {
 public:
  /// Error: io.
  static Result<std::unique_ptr<PracticeFolder>> make();
  ~PracticeFolder();
  PracticeFolder(const PracticeFolder&) = delete;
  PracticeFolder& operator=(const PracticeFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  PracticeFolder(std::filesystem::path path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  const std::filesystem::path path_;
  const UniqueFd lock_;
};

struct StoreChoice {
  std::unique_ptr<PracticeFolder> folder;  // null: the store is the one that was asked for
  std::unique_ptr<Store> store;            // declared after the folder, so that it closes first
  /// Says which process uses the store that was asked for. Empty if this process uses it.
  std::string practice_only;
};

/// Opens the store at `path`. If another process has it locked, opens a new store in a temporary
/// folder. Errors: those of Store::open() for `path`.
Result<StoreChoice> open_store_or_practice(const std::filesystem::path& path, StoreMode mode,
                                           const StoreLimits& limits);

}  // namespace assay::server
