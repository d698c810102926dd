// Reading server-sent events, as they arrive or from one body.
//
//   SseReader reader;
//   for (const std::string& data : reader.feed(chunk)) ...           // one entry per event that
//   carries data reader.last_id();                                                // where to go on
//   if the stream breaks here
//
// A reader belongs to one thread; sse_data() is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

class SseReader {
 public:
  /// The data of each event that `bytes` completes, in order; comments, event names and events
  /// without data are dropped. Lines end in LF or CRLF.
  std::vector<std::string> feed(std::string_view bytes);
  /// The id of the last complete event that had one, or empty.
  const std::string& last_id() const { return last_id_; }
  /// What the server asks a client to wait before it comes back; nothing when it did not say.
  std::optional<std::int64_t> retry_ms() const { return retry_ms_; }
  /// Forgets an event that a broken stream had begun.
  void begin_stream();

 private:
  void take_line(std::string_view line, std::vector<std::string>& events);

  std::string line_;  // begun
  std::string data_, id_;
  bool any_ = false;
  std::string last_id_;
  std::optional<std::int64_t> retry_ms_;
};

/// The data of each complete event of a whole body.
inline std::vector<std::string> sse_data(std::string_view body) { return SseReader().feed(body); }

}  // namespace assay::mcp
