// Defines the options with which an operator watches a server from outside: logs of events and
// requests, and traces. The standard environment variables of OpenTelemetry are read too.
//
//   auto flags = std::make_shared<ObserveFlags>();
//   add_observe_options(*command, *flags);
//   // After the command line is parsed:
//   const Result<TraceTarget> target = trace_target(*flags, [](const char* name) {
//     return std::getenv(name);
//   });
//
// The functions must be called by the thread that parses the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

struct ObserveFlags {
  std::string audit_log = {};      // the path of the audit log; empty: none
  std::string access_log = {};     // the path of the access log; "-": the server's log; empty: none
  std::string otlp_endpoint = {};  // the base URL of the collector; empty: the environment decides
};

/// Adds the options to `command`. `flags` must outlive the app.
void add_observe_options(CLI::App& command, ObserveFlags& flags);
/// Returns the options as command-line arguments, with absolute paths.
std::vector<std::string> arguments_of(const ObserveFlags& flags);

/// The collector that gets the traces.
struct TraceTarget {
  std::string url = {};                             // of POST requests; empty: no traces
  std::map<std::string, std::string> headers = {};  // may contain a secret
  std::string service = "assay";
};
/// Reads a variable of the environment. Returns null if it is not set.
using Environment = std::function<const char*(const char* name)>;
/// Returns the collector of --otlp-endpoint or of the environment. Error: invalid_argument if the
/// URL or the headers cannot be used.
Result<TraceTarget> trace_target(const ObserveFlags& flags, const Environment& environment);

}  // namespace assay::server
