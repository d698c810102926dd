// The stdio transport: serve_stdio() over the process's own descriptors, serve_lines() over any
// two.
#pragma once

#include <chrono>

#include "server/mcp/core/server.h"

namespace assay::mcp {

struct StdioLimits {
  std::size_t threads = 32;                 // calls at once; lists and ping never wait for them
  std::size_t subscriptions = 16;           // subscriptions/listen at once; more are refused
  std::size_t waiting = 256;                // calls in the queue; more are refused
  std::chrono::milliseconds drain{5'000};   // after end of input: calls may still end by themselves
  std::chrono::milliseconds cancel{5'000};  // then they are cancelled, and get this long to notice
};

/// Reads messages from `in` until its end, one per line, and writes answers to `out`. Owns neither
/// descriptor. SIGPIPE must be ignored. False when calls were still running at the end: their
/// threads use `server`, so the process must exit without destroying it.
bool serve_lines(Server& server, int in, int out, const StdioLimits& limits = {});

/// Serves fd 0 and fd 1 and returns the process's exit status. Afterwards everything else that
/// writes to fd 1 lands on stderr. It returns 0 at end of input; calls that still run get 5 s to
/// end, then are cancelled, and a process whose calls do not notice within 5 s more exits at once
/// with 70. Ignores SIGPIPE.
int serve_stdio(Server& server);

}  // namespace assay::mcp
