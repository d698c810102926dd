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

/// Returns a SHA-256 of the names and the contents of all files in the folder. Python's compiled
/// files are left out, because Python derives them from the others.
std::string harness_digest(const std::filesystem::path& folder);

}  // namespace assay::sandbox
