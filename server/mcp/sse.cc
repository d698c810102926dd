#include "server/mcp/sse.h"

namespace assay::mcp {

std::vector<std::string> SseReader::feed(std::string_view bytes) {
  std::vector<std::string> events;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      line_ += bytes;
      break;
    }
    line_ += bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    std::string_view line = line_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    take_line(line, events);
    line_.clear();
  }
  return events;
}

void SseReader::take_line(std::string_view line, std::vector<std::string>& events) {
  constexpr std::string_view kField = "data:";
  if (line.empty()) {
    if (any_) events.push_back(data_);
    data_.clear();
    any_ = false;
  } else if (line.substr(0, kField.size()) == kField) {
    line.remove_prefix(kField.size());
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (any_) data_ += '\n';
    data_ += line;
    any_ = true;
  }
}

}  // namespace assay::mcp
