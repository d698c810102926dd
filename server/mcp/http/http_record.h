// HttpRecord describes one answered HTTP request, for an access log, an audit log or metrics.
//
//   options.request_ended = [](const HttpRecord& record) {
//     log::info("request", {{"path", record.path}, {"status", record.status}});
//   };
//
// Plain value; the functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::mcp {

/// The rule by which the server refused a request before it looked at the message.
enum class Refusal {
  none,   // not refused, or for a reason that lies in the message
  host,   // an unknown Host or Origin
  token,  // no token, or an unknown one
  scope,  // the token may not do this
  rate,   // the rate limit
  busy,   // too many calls, streams, uploads or sessions
  size,   // the head or the body is too large
};

constexpr std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::none: return "none";
    case Refusal::host: return "host";
    case Refusal::token: return "token";
    case Refusal::scope: return "scope";
    case Refusal::rate: return "rate";
    case Refusal::busy: return "busy";
    case Refusal::size: return "size";
  }
  return "none";
}

/// Returns `known`, or the rule that an answer with this status stands for.
constexpr Refusal refusal_of(Refusal known, int status) {
  if (known != Refusal::none) return known;
  switch (status) {
    case 401: return Refusal::token;
    case 403: return Refusal::scope;
    case 413:
    case 414:
    case 431: return Refusal::size;
    case 429: return Refusal::rate;
    default: return Refusal::none;
  }
}

struct HttpRecord {
  std::string address = {};            // the numeric address of the client, or of the last proxy
  std::string principal = {};          // the name of the token; empty: none, or not known
  std::string method = {}, path = {};  // as sent; empty if the head could not be parsed
  int status = 0;                      // 0: no answer was sent
  Refusal refusal = Refusal::none;
  std::int64_t bytes = 0;  // of the answer's body, before chunks and TLS
  std::int64_t start_unix_ms = 0;
  std::int64_t duration_ns = 0;  // from the parsed head until the answer was given to the socket
};

}  // namespace assay::mcp
