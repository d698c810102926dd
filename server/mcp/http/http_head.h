// The guard in front of the HTTP library: whether the bytes that a connection has sent so far are
// the head of a request (request line and headers, up to the blank line) that is safe to hand on.
// The library accepts any number of headers, skips lines that it does not understand and runs a
// backtracking regular expression over Range, so a request that two parsers could read differently
// is refused here, before it sees a byte.
//
//   HeadCheck check = check_head(connection.input(), limits);
//   if (check.state == HeadCheck::State::incomplete) wait for more;
//
// Pure, thread-safe. Cost: linear in the bytes, which are at most `max_bytes` and what one read
// added.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::mcp {

struct HeadLimits {
  std::size_t max_bytes = 32 << 10;  // request line, headers and line breaks
  std::size_t max_headers = 64;
  std::size_t max_target_bytes = 2 << 10;  // of the request line's path and query
};

struct HeadCheck {
  enum class State { incomplete, complete, refused };
  State state = State::incomplete;
  std::size_t size = 0;  // complete: of the head, blank line included
  int status = 0;        // refused: of the answer, 400, 414, 431 or 505
  std::string reason;    // refused: a sentence
};

HeadCheck check_head(std::string_view bytes, const HeadLimits& limits);

}  // namespace assay::mcp
