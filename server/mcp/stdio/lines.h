// Reads and writes messages over file descriptors, one message per line. The stdio transport
// separates messages in this way. The reader limits the length of a line, and the writer writes
// whole lines.
//
//   LineReader reader(fd, kMaxMessageBytes);
//   while (const std::optional<Line> line = reader.next()) {
//     if (!line->oversize) use(line->text);
//   }
//
// A LineReader belongs to one thread. Any thread may call write_line(), but the caller must ensure
// that two calls for one descriptor do not overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::mcp {

struct Line {
  std::string text;       // the line without its line break; empty if oversize
  bool oversize = false;  // longer than the limit, so the line was skipped
};

class LineReader {
 public:
  /// If `wake` is not -1, it is a descriptor. When it has input, next() ends like at the end of
  /// input, and drops an incomplete line.
  LineReader(int fd, std::int64_t max_bytes, int wake = -1)
      : fd_(fd), max_bytes_(static_cast<std::size_t>(max_bytes)), wake_(wake) {}

  /// Returns the next line that is not blank. Returns nothing at the end of input or after a read
  /// error. The last line need not end with a line break.
  std::optional<Line> next();

 private:
  /// Reads more bytes into the buffer. Returns false at the end of input.
  bool fill();
  /// Waits until the input has bytes, has ended or has an error. Returns false if `wake_` has input
  /// first.
  bool wait_for_input() const;

  const int fd_;
  const std::size_t max_bytes_;
  const int wake_;
  std::string buffer_;
  std::size_t scanned_ = 0;  // no line break is before this offset
  bool ended_ = false;
};

/// Writes `text` and a line break. Waits while the pipe is full. SIGPIPE must be ignored.
Status write_line(int fd, std::string_view text);

}  // namespace assay::mcp
