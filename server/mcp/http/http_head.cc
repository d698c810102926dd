#include "server/mcp/http/http_head.h"

#include <strings.h>

#include <algorithm>

namespace assay::mcp {
namespace {

constexpr std::string_view kLineBreak = "\r\n";
constexpr std::string_view kBlankLine = "\r\n\r\n";
constexpr std::size_t kMaxMethodBytes = 16;

HeadCheck refuse(int status, std::string reason) {
  return {HeadCheck::State::refused, 0, status, std::move(reason)};
}

/// RFC 9110, "token": what methods and header names are made of.
bool is_token(std::string_view text) {
  constexpr std::string_view kPunctuation = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kPunctuation.find(c) != std::string_view::npos;
  });
}

/// Tabs, spaces, visible characters and bytes above ASCII; no CR, LF or NUL.
bool is_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7F); });
}

bool same_name(std::string_view name, std::string_view other) {
  return name.size() == other.size() && ::strncasecmp(name.data(), other.data(), name.size()) == 0;
}

/// An empty reason when the line is "METHOD target HTTP/1.x".
HeadCheck check_request_line(std::string_view line, const HeadLimits& limits) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return refuse(400, "the request line must be METHOD TARGET HTTP/1.1");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || method.size() > kMaxMethodBytes)
    return refuse(400, "the method is malformed");
  if (target.size() > limits.max_target_bytes)
    return refuse(414, "the target is longer than the limit of " +
                           std::to_string(limits.max_target_bytes) + " bytes");
  if (target.empty() ||
      !std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7F; })) {
    return refuse(400, "the target must be visible ASCII characters");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(505, "the version must be HTTP/1.1 or HTTP/1.0");
  return {};
}

}  // namespace

HeadCheck check_head(std::string_view bytes, const HeadLimits& limits) {
  const std::size_t end = bytes.substr(0, limits.max_bytes).find(kBlankLine);
  if (end == std::string_view::npos) {
    if (bytes.size() < limits.max_bytes) return {};
    return refuse(431, "the headers are longer than the limit of " +
                           std::to_string(limits.max_bytes) + " bytes");
  }
  std::string_view rest = bytes.substr(0, end + kLineBreak.size());
  const auto next_line = [&rest] {
    const std::size_t stop = rest.find(kLineBreak);
    const std::string_view line = rest.substr(0, stop);
    rest.remove_prefix(stop + kLineBreak.size());
    return line;
  };
  if (HeadCheck problem = check_request_line(next_line(), limits);
      problem.state == HeadCheck::State::refused)
    return problem;
  std::size_t headers = 0;
  std::size_t hosts = 0;
  std::size_t body_ends = 0;
  while (!rest.empty()) {
    const std::string_view line = next_line();
    if (++headers > limits.max_headers)
      return refuse(431, "too many headers: the limit is " + std::to_string(limits.max_headers));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return refuse(400, "header " + std::to_string(headers) + " must be NAME: VALUE on one line");
    if (!is_value(line.substr(colon + 1)))
      return refuse(400,
                    "header " + std::to_string(headers) + " has a control character in its value");
    const std::string_view name = line.substr(0, colon);
    if (same_name(name, "Host") && ++hosts > 1) return refuse(400, "more than one Host header");
    if ((same_name(name, "Content-Length") || same_name(name, "Transfer-Encoding")) &&
        ++body_ends > 1) {
      return refuse(400, "more than one Content-Length or Transfer-Encoding");
    }
    if (same_name(name, "Range")) return refuse(400, "Range does not apply here");
  }
  return {HeadCheck::State::complete, end + kBlankLine.size(), 0, ""};
}

}  // namespace assay::mcp
