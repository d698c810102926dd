// Newline-delimited messages over file descriptors, the framing of the stdio transport: a bounded
// reader, and a writer of whole lines.
//
//   LineReader reader(fd, kMaxMessageBytes);
//   while (const std::optional<Line> line = reader.next()) {
//     if (!line->oversize) use(line->text);
//   }
//
// A LineReader belongs to one thread. Any thread may call write_line(), but the caller must see to
// it that two calls for one descriptor do not overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::mcp {

struct Line {
  std::string text;       // without its line break; empty when oversize
  bool oversize = false;  // longer than the limit; it was skipped
};

class LineReader {
 public:
  LineReader(int fd, std::int64_t max_bytes)
      : fd_(fd), max_bytes_(static_cast<std::size_t>(max_bytes)) {}

  /// Returns the next line that is not blank, or nothing at the end of input or after a read error.
  /// The last line needs no line break.
  std::optional<Line> next();

 private:
  /// Reads more. Returns false at the end of input.
  bool fill();

  const int fd_;
  const std::size_t max_bytes_;
  std::string buffer_;
  std::size_t scanned_ = 0;  // there is no line break before this offset
  bool ended_ = false;
};

/// Writes `text` and a line break. Waits until the other side has room. SIGPIPE must be ignored.
Status write_line(int fd, std::string_view text);

}  // namespace assay::mcp
