#include "server/runs/practice_store.h"

#include <cstdlib>
#include <optional>
#include <system_error>

#include "base/log.h"
#include "server/store/store_writer.h"

namespace assay::server {

namespace fs = std::filesystem;

Result<std::unique_ptr<PracticeFolder>> PracticeFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return fail(ErrorCode::io, "no folder for temporary files: " + error.message());
  std::string pattern = (parent / "assay-practice-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail_errno("mkdtemp " + pattern);
  return std::unique_ptr<PracticeFolder>(new PracticeFolder(pattern));
}

PracticeFolder::~PracticeFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error)
    log::warning("a temporary folder was not removed",
                 {{"folder", path_.string()}, {"error", error.message()}});
}

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
