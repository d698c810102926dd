// Opens the SQLite file of a store. The functions check that the file is a store, lock it for a
// writer, and create or migrate its tables. Store and the commands `assay store ...` use these
// functions. Only server/store includes this header. The functions keep no state; a database
// belongs to one thread at a time.
//
//   ASSAY_RETURN_IF_ERROR(check_store_file(path));
//   ASSAY_TRY(lock, lock_store_file(path));
//   SQLite::Database db(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs);
//   ASSAY_RETURN_IF_ERROR(prepare_for_writing(db, path));
//
// The functions that use SQLite throw SQLite::Exception. sqlite_error() in connection.h turns the
// exception into an Error.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::server {

/// The maximum time that a call waits for a lock on the database, in milliseconds. Other processes,
/// such as `assay store prune`, hold the lock only briefly while a server uses the file.
inline constexpr int kBusyTimeoutMs = 5'000;

/// Returns the error `unavailable` for a file that cannot be written.
Error not_writable(const std::filesystem::path& path, const std::string& why);

/// Returns the error `unavailable` for a file that another process writes to. Names the process.
Error in_use(const std::filesystem::path& path);

/// Returns the error `not_found` if there is no file.
Status check_store_exists(const std::filesystem::path& path);

/// Returns an error if the database is not a store, or if its schema is newer than this Assay's.
Status check_store_identity(SQLite::Database& db, const std::filesystem::path& path);

/// Returns an error if an existing file is not a usable store. Must be called before anything that
/// can change the file.
Status check_store_file(const std::filesystem::path& path);

/// Makes this process the only writer until the descriptor is closed. Returns nothing if another
/// process is the writer.
Result<std::optional<UniqueFd>> try_lock_store_file(const std::filesystem::path& path);

/// Makes this process the only writer until the descriptor is closed. Errors: unavailable if
/// another process is the writer.
Result<UniqueFd> lock_store_file(const std::filesystem::path& path);

/// Takes the permissions of other users from the store's files, and logs that. The files contain
/// sources and the handles of runs. If the permissions cannot be changed, logs a warning.
void keep_store_private(const std::filesystem::path& path);

/// Sets up the connection. If the file is empty, creates the tables. If the file has an older
/// schema, migrates the tables.
Status prepare_for_writing(SQLite::Database& db, const std::filesystem::path& path);

/// Sets up the connection for reading. Does not change the file: if the file has version 1 of the
/// schema, a temporary view makes it readable like a file with the current version.
Status prepare_for_reading(SQLite::Database& db, const std::filesystem::path& path);

}  // namespace assay::server
