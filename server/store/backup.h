// Copies a store to another file with SQLite's backup API. The command `assay store backup` uses
// it. The copy contains the store as it was at one moment, even if a server writes to the store at
// the same time. The server does not wait for the copy.
//
//   const Result<std::int64_t> bytes = backup_store("assay.db", "assay-monday.db");
//
// The function keeps no state. Errors: those of Store::open() with read_only; invalid_argument if
// the destination exists; io or unavailable if it cannot be written. After an error there is no
// file at the destination.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace assay::server {

/// Writes the copy and returns its size in bytes. Only the user of this process can access the
/// copy, because it contains sources and the handles of runs. When this function returns, the copy
/// is on the disk.
Result<std::int64_t> backup_store(const std::filesystem::path& path,
                                  const std::filesystem::path& destination);

}  // namespace assay::server
