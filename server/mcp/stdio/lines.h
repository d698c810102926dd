// Newline-delimited messages over file descriptors, as the stdio transport frames them: a bounded
// reader and a whole-line writer.
//
//   LineReader reader(fd, kMaxMessageBytes);
//   while (auto line = reader.next()) { if (line->oversize) ...; else use(line->text); }
//
// LineReader belongs to one thread. write_line may be called from several, but each call must be
// serialised by the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::mcp {

struct Line {
  std::string text;       // without line break; empty when oversize
  bool oversize = false;  // longer than the limit; the rest of it was skipped
};

class LineReader {
 public:
  LineReader(int fd, std::int64_t max_bytes)
      : fd_(fd), max_bytes_(static_cast<std::size_t>(max_bytes)) {}

  /// The next line, blank ones skipped; nothing at end of input or on a read error. A last line
  /// needs no line break.
  std::optional<Line> next();

 private:
  /// False at end of input.
  bool fill();

  const int fd_;
  const std::size_t max_bytes_;
  std::string buffer_;
  std::size_t scanned_ = 0;  // no line break before this offset
  bool ended_ = false;
};

/// Writes `text` and a line break, waiting as long as the other side takes to read. SIGPIPE must be
/// ignored.
Status write_line(int fd, std::string_view text);

}  // namespace assay::mcp
