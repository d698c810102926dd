// Appends whole lines to a file that must survive a full disk: either the line is there to its end,
// or nothing of it is. Half a line would make one broken line of itself and of what is appended
// after it.
//
//   if (Status written = append_line(fd.get(), path, json.dump()); !written) return written;   //
//   io: nothing was changed
//
// For files that one process and one thread at a time appends to (O_APPEND).
#pragma once

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

}  // namespace assay
