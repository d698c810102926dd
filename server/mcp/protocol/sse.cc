#include "server/mcp/protocol/sse.h"

#include <charconv>
#include <system_error>

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

void SseReader::begin_stream() {
  line_.clear();
  data_.clear();
  id_ = last_id_;
  any_ = false;
}

void SseReader::take_line(std::string_view line, std::vector<std::string>& events) {
  if (line.empty()) {
    if (any_) events.push_back(data_);
    last_id_ = id_;
    data_.clear();
    any_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (any_) data_ += '\n';
    data_ += value;
    any_ = true;
  } else if (field == "id") {
    id_ = value;
  } else if (field == "retry") {
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error == std::errc() && end == value.data() + value.size() && ms >= 0) retry_ms_ = ms;
  }
}

}  // namespace assay::mcp
