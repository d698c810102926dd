// Span is one piece of work in a distributed trace. otlp_request() writes spans in the JSON form of
// the OpenTelemetry protocol (OTLP/HTTP, POST /v1/traces).
//
//   const std::string body = otlp_request({span}, {.name = "assay", .version = "1.0"});
//
// Plain values; the function is pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/trace_parent.h"

namespace assay::server {

struct Span {
  enum class Kind { internal = 1, server = 2 };  // the numbers of OTLP

  TraceParent place;      // the ids of the trace and of this span
  std::string parent_id;  // empty: this span is the root of its trace
  std::string name;
  Kind kind = Kind::internal;
  std::int64_t start_ns = 0, end_ns = 0;  // since 1970
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>> attributes = {};
  bool failed = false;

  /// Adds an attribute. An empty text is left out.
  void add(std::string key, std::string_view text);
};

struct TracedService {
  std::string name, version;
};
std::string otlp_request(const std::vector<Span>& spans, const TracedService& service);

}  // namespace assay::server
