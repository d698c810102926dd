// Says which process writes to a store. A writer holds a lock on the file "STORE.lock", and writes
// its process number and the time into this file. Only server/store and server/runs include this
// header. The functions keep no state. Thread-safe.
//
//   if (const std::optional<StoreWriter> other = other_writer("assay.db"))
//     log::warning("the store is in use", {{"by", to_string(*other)}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace assay::server {

/// The process that writes to a store, as far as it is known. Both are 0 if the process could not
/// write them into the lock file, or wrote them with an older Assay.
struct StoreWriter {
  std::int64_t pid = 0;
  std::int64_t since_unix_ms = 0;
};

/// Returns "process 1234, since 2025-11-28T08:00:00.123Z", or "another Assay" if nothing is known.
std::string to_string(const StoreWriter& writer);

/// Returns the process that has the store locked. Returns nothing if no other process and no other
/// Store of this process has it locked.
std::optional<StoreWriter> other_writer(const std::filesystem::path& store);

/// Writes this process into its lock file, which is open and locked. Error: io.
Status name_writer(int lock_fd, const std::string& lock_path);

/// Returns the text of a lock file.
std::string writer_text(const StoreWriter& writer);
/// Returns the process that the text of a lock file names.
StoreWriter writer_from(const std::string& text);

}  // namespace assay::server
