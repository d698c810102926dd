// SourceFolder reads files of one folder that the user allowed, and of its subfolders. A client
// chooses the paths, so no path may lead out of the folder: neither "..", nor an absolute path, nor
// a symbolic link, not even if another process changes the folder at the same time. The kernel
// checks that (openat2 with RESOLVE_BENEATH).
//
//   Result<SourceFolder> folder = SourceFolder::open("/home/me/kernels");
//   Result<std::string> source = folder->read("fused/softmax.py", 1 << 20);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::tools {

class SourceFolder {
 public:
  /// Opens the folder. Errors: not_found if there is no such folder; unsupported if the kernel has
  /// no openat2 (Linux 5.6).
  static Result<SourceFolder> open(const std::filesystem::path& folder);

  /// Returns the bytes of a regular file. `path` is relative to the folder, or an absolute path of
  /// a file in the folder. A symbolic link may lead to another file of the folder. Errors:
  /// invalid_argument if the path is invalid, leads out of the folder, or names something other
  /// than a regular file, or if the file is larger than `max_bytes`; not_found if there is no such
  /// file; permission_denied if the server may not read it; io if reading fails. The errors do not
  /// tell whether a file outside of the folder exists.
  Result<std::string> read(const std::string& path, std::int64_t max_bytes) const;

  /// Returns the absolute path of the folder.
  const std::string& name() const { return name_; }

 private:
  SourceFolder(UniqueFd fd, std::string name, std::string real_name);
  /// Returns the path relative to the folder.
  Result<std::string> relative(const std::string& path) const;

  UniqueFd fd_;
  std::string name_;
  std::string real_name_;  // without symbolic links
};

}  // namespace assay::tools
