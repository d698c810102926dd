// Reads server-sent events, as they arrive or from one body.
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
  /// events without data are dropped. Lines end in LF or CRLF.
  std::vector<std::string> feed(std::string_view bytes);
  /// The id of the last complete event, or empty. A client that comes back sends it.
  const std::string& last_id() const { return last_id_; }
  /// The pause that the server asks for before a client comes back; nothing when it asks for none.
  std::optional<std::int64_t> retry_ms() const { return retry_ms_; }
  /// Forgets the incomplete event of a broken stream.
  void begin_stream();

 private:
  void take_line(std::string_view line, std::vector<std::string>& events);

  std::string line_;  // the beginning of a line
  std::string data_, id_;
  bool any_ = false;
  std::string last_id_;
  std::optional<std::int64_t> retry_ms_;
};

/// Returns the data of each complete event of a whole body.
inline std::vector<std::string> sse_data(std::string_view body) { return SseReader().feed(body); }

}  // namespace assay::mcp
