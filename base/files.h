// Reads and appends to files with plain system calls.
//
// append_line() writes a whole line or nothing, so that a full disk leaves no half line. A half
// line would spoil itself and the next line. Use it for files to which one thread at a time appends
// (opened with O_APPEND).
//
//   const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
//   const Status written = append_line(fd.get(), path, R"({"event": "start"})");
//
// read_small_file() reads a kernel file (/proc, /sys, cgroups). It uses no iostreams because it
// also runs in forked Python processes. They have several C++ runtimes loaded, and a stream of one
// can get the locale of another: beside a CUDA build of PyTorch, `>>` on an ifstream once never
// ended. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay {

/// Writes `line` and a newline. On an error it removes the part that was written. io with the call,
/// the path and errno.
Status append_line(int fd, const std::string& path, const std::string& line);

/// Reserves disk space after the end of the file without changing its size, so that the next append
/// cannot fail for lack of space. io if there is not enough space. Does nothing on file systems
/// that cannot reserve space.
Status reserve_space(int fd, const std::string& path, std::int64_t bytes);

/// Frees the reserved space that is not used.
Status release_space(int fd, const std::string& path);

/// Returns at most `limit_bytes` of the file, or an empty text if it cannot be read.
std::string read_small_file(const std::string& path, std::size_t limit_bytes = 1U << 20);

}  // namespace assay
