#include "server/store/backup.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "base/private_path.h"
#include "base/unique_fd.h"
#include "server/store/connection.h"
#include "server/store/store_file.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

/// A file that is removed unless it is renamed to its final path.
class PartialFile {
 public:
  explicit PartialFile(fs::path path) : path_(std::move(path)) {}
  ~PartialFile() {
    std::error_code ignored;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"})
      fs::remove(path_.string() + suffix, ignored);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

Status flush(const fs::path& path, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path.string());
  if (::fsync(fd.get()) != 0) return fail_errno("fsync " + path.string());
  return {};
}

Status copy_pages(const fs::path& path, const fs::path& copy) {
  SQLite::Database from(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
  ASSAY_RETURN_IF_ERROR(prepare_for_reading(from, path));
  try {
    SQLite::Database to(copy.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs);
    // One step copies all pages in one read transaction. A writer does not wait for a reader in WAL
    // mode. If the copy had several steps, each write of the server would start it again.
    SQLite::Backup(to, from).executeStep(-1);
    // The copy is one file, without a log beside it. The first server that opens it sets WAL mode
    // again.
    to.exec("PRAGMA journal_mode=DELETE");
    return {};
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, copy));
  }
}

}  // namespace

Result<std::int64_t> backup_store(const fs::path& path, const fs::path& destination) {
  ASSAY_RETURN_IF_ERROR(check_store_exists(path));
  std::error_code code;
  if (fs::exists(fs::symlink_status(destination, code)))
    return fail(ErrorCode::invalid_argument,
                destination.string() + " exists; name a file that does not exist");
  const fs::path folder = destination.has_parent_path() ? destination.parent_path() : fs::path(".");
  const PartialFile partial(destination.string() + ".part");
  fs::remove(partial.path(), code);  // from a backup that was killed
  ASSAY_RETURN_IF_ERROR(create_private_file(partial.path()));
  try {
    ASSAY_RETURN_IF_ERROR(check_store_file(path));
    ASSAY_RETURN_IF_ERROR(copy_pages(path, partial.path()));
    ASSAY_RETURN_IF_ERROR(check_store_file(partial.path()));
  } catch (const SQLite::Exception& error) {
    return fail(sqlite_error(error, path));
  }
  ASSAY_RETURN_IF_ERROR(flush(partial.path(), O_RDONLY));
  const auto bytes = static_cast<std::int64_t>(fs::file_size(partial.path(), code));
  if (code) return fail(ErrorCode::io, partial.path().string() + ": " + code.message());
  fs::rename(partial.path(), destination, code);
  if (code) return fail(ErrorCode::io, "rename to " + destination.string() + ": " + code.message());
  ASSAY_RETURN_IF_ERROR(flush(folder, O_RDONLY | O_DIRECTORY));
  return bytes;
}

}  // namespace assay::server
