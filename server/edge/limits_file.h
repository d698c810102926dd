// Reads the file of `assay serve --limits-file`, which has limits of an HTTP server that SIGHUP
// changes. A limit that the file does not name keeps the value of its option, or its default.
//
//   const Result<mcp::HttpOptions> options = with_limits("rate_limit = 10", started);
//
// Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/mcp/http/http_server.h"

namespace assay::server {

/// Returns `options` with the limits of a file. Error: invalid_argument if the text is no TOML, or
/// if it has an unknown name or a value that is not valid; the message names the valid ones.
Result<mcp::HttpOptions> with_limits(std::string_view text, mcp::HttpOptions options);

/// Returns the number of threads that these limits need.
int threads_for(const mcp::HttpOptions& options);

/// Returns the burst of a rate limit: what a client may send at once after a pause.
RateLimit rate_limit_of(double per_second);

}  // namespace assay::server
