// The stdio transport. serve_stdio() serves over stdin and stdout, serve_lines() over any two
// descriptors.
//
//   const int status = serve_stdio(server);  // until the end of input
#pragma once

#include <chrono>

#include "server/mcp/core/server.h"

namespace assay::mcp {

struct StdioLimits {
  std::size_t threads = 32;        // calls at once; lists and ping never wait for them
  std::size_t subscriptions = 16;  // subscriptions/listen at once; more are refused
  std::size_t waiting = 256;       // calls in the queue; more are refused
  /// After the end of input: the time in which calls may end by themselves.
  std::chrono::milliseconds drain{5'000};
  /// Then the calls are cancelled: the time in which they must end.
  std::chrono::milliseconds cancel{5'000};
};

/// Reads messages from `in` until its end, one a line, and writes answers to `out`. It owns neither
/// descriptor. SIGPIPE must be ignored. Returns false when calls still run at the end. Their
/// threads use `server`, so the process must then exit without destroying it.
bool serve_lines(Server& server, int in, int out, const StdioLimits& limits = {});

/// Serves stdin and stdout, and returns the exit status of the process, which is 0 at the end of
/// input. Calls that still run then have 5 s to end, and 5 s more after they are cancelled. If one
/// still runs, the process exits at once with 70. From the first call on, all other output to
/// stdout goes to stderr. Ignores SIGPIPE.
int serve_stdio(Server& server);

}  // namespace assay::mcp
