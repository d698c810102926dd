// Opens the file of a store that can be read, but not be written: its disk is full, or its file
// system is mounted read-only. In WAL mode, SQLite needs to write even to read a database, so
// special settings are needed. Only server/store includes this header. The functions keep no state.
//
//   ASSAY_TRY(file, open_unwritable_file(path));
//   const int runs = file.db.execAndGet("SELECT count(*) FROM runs").getInt();
//
// open_unwritable_file() throws no exception of SQLite.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>

#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::server {

struct ReadableFile {
  SQLite::Database db;
  UniqueFd lock;  // invalid if the file system is read-only; then no process can write
};

/// Opens the file for reading. Errors: those of check_store_file(); unavailable if another process
/// is the writer, or if the file cannot be read either.
Result<ReadableFile> open_unwritable_file(const std::filesystem::path& path);

}  // namespace assay::server
