#include "server/mcp/sse.h"

#include <algorithm>

namespace assay::mcp {

std::vector<std::string> sse_data(std::string_view body) {
  constexpr std::string_view kField = "data:";
  std::vector<std::string> events;
  std::string data;
  bool any = false;
  std::size_t start = 0;
  while (start < body.size()) {
    const std::size_t end = std::min(body.find('\n', start), body.size());
    std::string_view line = body.substr(start, end - start);
    start = end + 1;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      if (any) events.push_back(data);
      data.clear();
      any = false;
    } else if (line.substr(0, kField.size()) == kField) {
      line.remove_prefix(kField.size());
      if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
      if (any) data += '\n';
      data += line;
      any = true;
    }
  }
  return events;
}

}  // namespace assay::mcp
