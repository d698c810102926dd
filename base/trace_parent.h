// TraceParent is the place of a piece of work in a distributed trace. Clients send it in the HTTP
// header `traceparent` (W3C Trace Context), and in params._meta of an MCP request.
//
//   const std::string header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
//   const std::optional<TraceParent> parent = TraceParent::parse(header);
//   const TraceParent own = TraceParent::below(parent);  // the same trace, a new span
//   show(own.text());
//
// Plain value; the functions are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct TraceParent {
  std::string trace_id;  // 32 lower-case hexadecimal digits
  std::string span_id;   // 16 lower-case hexadecimal digits
  bool sampled = true;   // false: the caller decided that nobody records this trace

  /// Returns nothing if `text` has another form, or if an id consists of zeros. Of a version that
  /// is newer than 00, reads the fields that version 00 has.
  static std::optional<TraceParent> parse(std::string_view text);
  /// Returns a new span in the trace of `parent`, or in a new trace if there is no parent.
  static TraceParent below(const std::optional<TraceParent>& parent);
  std::string text() const;
};

}  // namespace assay
