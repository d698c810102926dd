// Appends whole lines to a file that must survive a full disk: either the line is there to its end,
// or nothing of it is. Half a line would make one broken line of itself and of what is appended
// after it.
//
//   if (Status written = append_line(fd.get(), path, json.dump()); !written) return written;   //
//   io: nothing was changed
//
// For files that one process and one thread at a time appends to (O_APPEND).
//
// read_small_file: the whole text of a file of the kernel's (/proc, /sys, cgroups), by system calls
// alone.
//
// No iostreams on purpose: this runs in forked Python processes that have several C++ runtimes
// loaded, where a stream of one may meet the locale of another (seen: `>>` on an ifstream spinning
// for ever beside a CUDA build of PyTorch). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay {

/// Writes `line` and a newline. io with the call, the path and errno; what was written of it is
/// taken back.
Status append_line(int fd, const std::string& path, const std::string& line);

/// Sets disk space aside behind the end of the file without changing its size, so that what is
/// appended next fits. io when there is no such space; file systems that cannot do this pass
/// without it.
Status reserve_space(int fd, const std::string& path, std::int64_t bytes);

/// Gives back what was set aside and not used.
Status release_space(int fd, const std::string& path);

/// Empty when the file cannot be read. At most `limit_bytes` of it.
std::string read_small_file(const std::string& path, std::size_t limit_bytes = 1U << 20);

}  // namespace assay
