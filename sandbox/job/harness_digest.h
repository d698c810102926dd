// Computes a hash of the harness, by which two machines, or two starts of a server, find out
// whether they run the same code.
//
//   hello.revision.harness = harness_digest(config.harness_dir);
//
// A pure function, except that it reads the files. Thread-safe.
#pragma once

#include <filesystem>
#include <string>

namespace assay::sandbox {

/// Returns a SHA-256 of the names and the contents of the Python sources in the folder, and of the
/// headers in folders `include`. Other files are left out: an installed harness does not have the
/// sources of its native modules.
std::string harness_digest(const std::filesystem::path& folder);

}  // namespace assay::sandbox
