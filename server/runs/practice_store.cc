#include "server/runs/practice_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/log.h"
#include "server/store/store_writer.h"

namespace assay::server {

namespace fs = std::filesystem;

namespace {

// A folder gets this ending when its lock is held, so that no other process takes a new folder for
// an abandoned one.
constexpr const char* kPracticeEnding = ".practice-store";
constexpr const char* kOwnerFile = "owner.lock";
constexpr mode_t kOwnerMode = 0600;

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error)
    log::warning("a temporary folder was not removed",
                 {{"folder", folder.string()}, {"error", error.message()}});
}

/// Takes the lock of a folder. Returns no descriptor if another process holds it, or if there is no
/// such file.
UniqueFd lock_owner_file(const fs::path& folder, int flags) {
  UniqueFd fd(
      ::open((folder / kOwnerFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, kOwnerMode));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

/// Removes the folders of this user whose owners no longer live.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kPracticeEnding) found.push_back(entry->path());
  }
  for (const fs::path& folder : found) {
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
      continue;
    if (const UniqueFd lock = lock_owner_file(folder, 0)) remove_folder(folder);
  }
}

}  // namespace

Result<std::unique_ptr<PracticeFolder>> PracticeFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return fail(ErrorCode::io, "no folder for temporary files: " + error.message());
  remove_abandoned(parent);
  std::string made = (parent / "assay-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) return fail_errno("mkdtemp " + made);
  UniqueFd lock = lock_owner_file(made, O_CREAT | O_EXCL);
  const fs::path path = made + kPracticeEnding;
  if (!lock) {
    const auto failed = fail_errno("lock " + made);
    remove_folder(made);
    return failed;
  }
  fs::rename(made, path, error);
  if (error) {
    remove_folder(made);
    return fail(ErrorCode::io, "rename " + made + ": " + error.message());
  }
  return std::unique_ptr<PracticeFolder>(new PracticeFolder(path, std::move(lock)));
}

PracticeFolder::~PracticeFolder() { remove_folder(path_); }

Result<StoreChoice> open_store_or_practice(const fs::path& path, StoreMode mode,
                                           const StoreLimits& limits) {
  Result<std::unique_ptr<Store>> asked = Store::open(path, mode, limits);
  if (asked) return StoreChoice{nullptr, std::move(*asked), ""};
  const std::optional<StoreWriter> writer = other_writer(path);
  if (!writer) return fail(asked.error());
  Result<std::unique_ptr<PracticeFolder>> folder = PracticeFolder::make();
  if (!folder) {
    log::error("no temporary store can be made", {{"error", folder.error().message}});
    return fail(asked.error());
  }
  auto own = Store::open((*folder)->path() / "assay.db", mode, limits);
  if (!own) {
    log::error("no temporary store can be made", {{"error", own.error().message}});
    return fail(asked.error());
  }
  return StoreChoice{std::move(*folder), std::move(*own),
                     "the store " + path.string() + " is in use by " + to_string(*writer) +
                         ". This server keeps its jobs in a temporary store, which is removed when "
                         "the server ends. For a scored run, stop that process and start this "
                         "server again, or give this server another --store"};
}

}  // namespace assay::server
