// Implements the stdio transport. serve_stdio() serves over stdin and stdout; serve_lines() serves
// over any two descriptors.
//
//   const int status = serve_stdio(server, {});  // returns at the end of input
#pragma once

#include <chrono>
#include <stop_token>

#include "server/mcp/core/server.h"

namespace assay::mcp {

struct StdioLimits {
  /// The maximum number of simultaneous calls. Short requests such as ping and the list methods do
  /// not count.
  std::size_t threads = 32;
  /// The maximum number of simultaneous subscriptions/listen. Further subscriptions are refused.
  std::size_t subscriptions = 16;
  /// The maximum number of calls in the queue. Further calls are refused.
  std::size_t waiting = 256;
  /// The time for which running calls may continue after the end of input. After that, they are
  /// cancelled. If the client no longer reads answers, they are cancelled at once.
  std::chrono::milliseconds drain{5'000};
  /// The time that calls have to end after they are cancelled.
  std::chrono::milliseconds cancel{5'000};
};

/// The two ways to end a server on stdio before the end of input.
struct StdioStop {
  /// The server reads no further message, stops the work of running calls and answers them.
  std::stop_token now = {};
  /// Calls that still run at the end of input get no time to end. Has no effect before the end of
  /// input.
  std::stop_token soon = {};
};

/// Reads messages from `in` until the end of input, one message per line, and writes answers to
/// `out`. The caller owns both descriptors. SIGPIPE must be ignored. Returns false if calls still
/// run at the end. The threads of these calls still use `server`, so the process must then exit
/// without destroying `server`.
bool serve_lines(Server& server, int in, int out, const StdioLimits& limits = {},
                 const StdioStop& stop = {});

/// Serves stdin and stdout. Returns the exit status of the process, which is 0 at the end of input
/// and after a stop.
/// Calls that still run at the end of input have 5 s to end, and then 5 s more after they are
/// cancelled. If a call still runs after that, the process exits immediately with status 70. After
/// serve_stdio() has been called once, all other output to stdout goes to stderr. Ignores SIGPIPE.
int serve_stdio(Server& server, const StdioStop& stop);

}  // namespace assay::mcp
