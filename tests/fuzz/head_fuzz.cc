// Fuzzes the guard in front of the HTTP library and the pure checks on headers behind it: Host,
// Origin, Accept, encoded header values, and the headers of a body.
//
// Whatever the bytes: no crash; a head is never accepted when it is larger than the limits, when a
// shorter prefix was refused, or when it has a character that another parser could take for the end
// of a line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "server/mcp/http/http_admission.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_head.h"
#include "server/mcp/http/http_server.h"

namespace {

using namespace assay::mcp;
using State = HeadCheck::State;

const HeadLimits kLimits{2048, 16, 256};

/// Splits an accepted head the simplest way there is: every line has a colon by now.
std::multimap<std::string, std::string> headers_of(std::string_view head) {
  std::multimap<std::string, std::string> headers;
  head.remove_prefix(head.find("\r\n") + 2);
  while (head.size() > 2) {
    const std::size_t colon = head.find(':');
    const std::size_t end = head.find("\r\n");
    if (colon == std::string_view::npos || colon > end) std::abort();
    const std::size_t value = std::min(head.find_first_not_of(" \t", colon + 1), end);
    headers.emplace(head.substr(0, colon), head.substr(value, end - value));
    head.remove_prefix(end + 2);
  }
  return headers;
}

void check_values(std::string_view head) {
  const auto headers = headers_of(head);
  if (headers.size() > kLimits.max_headers) std::abort();
  const HeaderLookup lookup = [&headers](const char* name) -> std::optional<std::string> {
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional(found->second);
  };
  static const HttpOptions options;
  static Admission admission(options);
  static_cast<void>(admission.decide(lookup, "127.0.0.1", Admission::Path::protocol));
  static_cast<void>(refuse_headers(
      lookup, [&headers](const char* name) { return headers.count(name); }, options));
  for (const auto& [name, value] : headers) {
    static_cast<void>(host_allowed(value, "0.0.0.0"));
    static_cast<void>(origin_allowed(value, "127.0.0.1"));
    static_cast<void>(accepts(value, "text/event-stream"));
    if (const auto decoded = decode_header_value(value);
        decoded && decode_header_value(encode_header_value(*decoded)) != *decoded)
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const HeadCheck check = check_head(bytes, kLimits);
  const HeadCheck half = check_head(bytes.substr(0, size / 2), kLimits);
  if (half.state == State::refused && check.state != State::refused) std::abort();
  if (half.state == State::complete && (check.state != State::complete || check.size != half.size))
    std::abort();
  if (check.state == State::refused && (check.status < 400 || check.reason.empty())) std::abort();
  if (check.state != State::complete) return 0;
  const std::string_view head = bytes.substr(0, check.size);
  if (head.size() > kLimits.max_bytes + 4 || head.find('\0') != std::string_view::npos)
    std::abort();
  if (std::count(head.begin(), head.end(), '\n') != std::count(head.begin(), head.end(), '\r'))
    std::abort();
  check_values(head);
  return 0;
}
