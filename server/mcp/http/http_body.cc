#include "server/mcp/http/http_body.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "server/mcp/http/http_head.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxSizeDigits = 15;  // fits into 64 bits

}  // namespace

std::size_t ChunkDecoder::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::incomplete) {
    const std::string_view rest = bytes.substr(used);
    if (data_bytes_ > 0) {
      const std::string_view data = rest.substr(0, data_bytes_);
      body_.append(data);
      data_bytes_ -= data.size();
      used += data.size();
      continue;
    }
    const std::size_t line_break = rest.find('\n');
    const std::string_view part =
        rest.substr(0, line_break == rest.npos ? rest.npos : line_break + 1);
    line_.append(part);
    used += part.size();
    framing_bytes_ += part.size();
    if (framing_bytes_ > max_framing_bytes_)
      state_ = State::malformed;
    else if (line_break != rest.npos)
      take_line();
  }
  return used;
}

void ChunkDecoder::take_line() {
  const std::string whole = std::exchange(line_, {});
  std::string_view line = whole;
  line.remove_suffix(1);
  if (!line.ends_with('\r') || !is_header_value(line.substr(0, line.size() - 1))) {
    state_ = State::malformed;
    return;
  }
  line.remove_suffix(1);
  switch (expected_) {
    case Line::size: return take_size(line);
    case Line::end_of_data:
      if (!line.empty()) state_ = State::malformed;
      expected_ = Line::size;
      return;
    case Line::trailer:
      if (line.empty()) state_ = State::complete;
      return;
  }
}

void ChunkDecoder::take_size(std::string_view line) {
  const std::string_view digits = line.substr(0, line.find(';'));
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  if (digits.size() > kMaxSizeDigits || error != std::errc() ||
      end != digits.data() + digits.size() || digits.starts_with('-')) {
    state_ = State::malformed;
  } else if (size > max_body_bytes_ - body_.size()) {
    state_ = State::too_large;
  } else {
    data_bytes_ = size;
    expected_ = size == 0 ? Line::trailer : Line::end_of_data;
  }
}

}  // namespace assay::mcp
