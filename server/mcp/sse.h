// Reading a stream of server-sent events that arrived as one body.
//
//   for (const std::string& data : sse_data(body)) ...        // one entry per event that carries data
//
// Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

/// The data of each complete event in order; comments, ids and event names are dropped. Lines end in LF or CRLF.
std::vector<std::string> sse_data(std::string_view body);

}  // namespace assay::mcp
