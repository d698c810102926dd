// Reads and writes files that a user names on the command line, such as submissions, artifacts and
// files of secrets.
// Thread-safe.
//
//   Result<std::string> source = read_source("kernel.py", 1 << 20);
//   Result<std::string> tokens = read_private_file("tokens", 1 << 20, "token file");
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

/// Reads a whole regular file, or standard input if `path` is "-". `what` names the kind of file in
/// messages. Errors: not_found if there is no readable regular file with this name; corrupt if the
/// file is larger than `max_bytes`; io if a read failed.
Result<std::string> read_file_bytes(const std::string& path, std::int64_t max_bytes,
                                    const std::string& what);

/// Reads a whole regular file like read_file_bytes(), but "-" is the file with this name. For files
/// that a server reads again while it runs.
Result<std::string> read_regular_file(const std::string& path, std::int64_t max_bytes,
                                      const std::string& what);

/// Reads a regular file with a secret, such as a token file. `what` names the kind of file in
/// messages, for example "token file". Errors: not_found if the file cannot be read; corrupt if it
/// is no regular file, or larger than `max_bytes`; permission_denied if other users can access it.
Result<std::string> read_private_file(const std::string& path, std::int64_t max_bytes,
                                      const std::string& what);

/// Reads a submission. Errors: the errors of read_file_bytes(); corrupt if the file is empty or
/// binary.
Result<std::string> read_source(const std::string& path, std::int64_t max_bytes);

/// Creates `folder`, writes each artifact into a file in it, and returns the paths of the files.
/// The artifacts' names are untrusted. Therefore every character other than an ASCII letter, a
/// digit, '_' and '-' is replaced by '-'. A long name is cut, and equal names get different
/// numbers. Error: io.
Result<std::vector<std::filesystem::path>> write_artifacts(
    const std::vector<sandbox::Artifact>& artifacts, const std::filesystem::path& folder);

}  // namespace assay::server
