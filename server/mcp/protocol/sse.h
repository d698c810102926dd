// SseReader parses server-sent events. It reads a stream in parts as they arrive, or one complete
// body.
//
//   SseReader reader;
//   const std::vector<std::string> data = reader.feed("id: 7\ndata: a\n\n");  // {"a"}
//   const std::string& place = reader.last_id();                             // "7"
//
// A reader belongs to one thread. sse_data() is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

class SseReader {
 public:
  /// Returns the data of each event that `bytes` completes, in order. Comments, event names and
  /// events without a data line are skipped. Lines end with LF or CRLF.
  std::vector<std::string> feed(std::string_view bytes);
  /// Returns the id of the last complete event, or "" if no event had an id. A client sends this id
  /// when it reconnects.
  const std::string& last_id() const { return last_id_; }
  /// Returns the time in milliseconds that a client must wait before it reconnects, if the server
  /// has sent such a time. Otherwise returns nothing.
  std::optional<std::int64_t> retry_ms() const { return retry_ms_; }
  /// Must be called before the data of a new stream. Discards the incomplete event of the broken
  /// stream.
  void begin_stream();

 private:
  void take_line(std::string_view line, std::vector<std::string>& events);

  std::string line_;  // the beginning of an incomplete line
  std::string data_, id_;
  bool any_ = false;
  std::string last_id_;
  std::optional<std::int64_t> retry_ms_;
};

/// Returns the data of each complete event of a whole body.
inline std::vector<std::string> sse_data(std::string_view body) { return SseReader().feed(body); }

}  // namespace assay::mcp
