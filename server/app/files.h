// Files that a user names on the command line: submissions to read, artifacts to write.
// Thread-safe.
//
//   Result<std::string> source = read_source("kernel.py", 1 << 20);
//   Result<std::string> plan = read_file_bytes("kernel.plan", sandbox::kMaxPlanBytes, "a plan");
//   Result<std::vector<std::filesystem::path>> files =
//       write_artifacts(verdict.artifacts, "out");  // {"out/small-cuda-90.plan"}
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::server {

/// Reads a whole regular file, or standard input if `path` is "-". Errors: not_found, there is no
/// readable regular file of that name; corrupt, the file is larger than `max_bytes`, the limit for
/// `what`; io, a read failed.
Result<std::string> read_file_bytes(const std::string& path, std::int64_t max_bytes,
                                    const std::string& what);

/// Reads a submission. Errors: those of read_file_bytes(), and corrupt for an empty or binary file.
Result<std::string> read_source(const std::string& path, std::int64_t max_bytes);

/// Makes `folder`, writes each artifact into a file there and returns the files. Names are
/// untrusted: every character with a meaning in a path becomes '-', and equal names are numbered.
/// Errors: io.
Result<std::vector<std::filesystem::path>> write_artifacts(
    const std::vector<sandbox::Artifact>& artifacts, const std::filesystem::path& folder);

}  // namespace assay::server
