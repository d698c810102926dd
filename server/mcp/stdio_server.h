// The stdio transport over any two descriptors. serve_stdio() (server.h) calls it with the process's own, tests with pipes.
#pragma once

#include <chrono>

#include "server/mcp/server.h"

namespace assay::mcp {

struct StdioLimits {
  std::size_t threads = 32;                 // calls at once; lists and ping never wait for them
  std::size_t subscriptions = 16;           // subscriptions/listen at once; more are refused
  std::size_t waiting = 256;                // calls in the queue; more are refused
  std::chrono::milliseconds drain{5'000};   // after end of input: calls may still end by themselves
  std::chrono::milliseconds cancel{5'000};  // then they are cancelled, and get this long to notice
};

/// Reads messages from `in` until its end, one per line, and writes answers to `out`. Owns neither descriptor. SIGPIPE must be ignored.
/// False when calls were still running at the end: their threads use `server`, so the process must exit without destroying it.
bool serve_lines(Server& server, int in, int out, const StdioLimits& limits = {});

}  // namespace assay::mcp
