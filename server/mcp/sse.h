// Reading server-sent events, as they arrive or from one body.
//
//   SseReader reader;
//   for (const std::string& data : reader.feed(chunk)) ...           // one entry per event that carries data
//
// A reader belongs to one thread; sse_data() is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

class SseReader {
 public:
  /// The data of each event that `bytes` completes, in order; comments, ids, event names and events without data are dropped. Lines end in LF
  /// or CRLF.
  std::vector<std::string> feed(std::string_view bytes);

 private:
  void take_line(std::string_view line, std::vector<std::string>& events);

  std::string line_;  // begun
  std::string data_;
  bool any_ = false;
};

/// The data of each complete event of a whole body.
inline std::vector<std::string> sse_data(std::string_view body) { return SseReader().feed(body); }

}  // namespace assay::mcp
