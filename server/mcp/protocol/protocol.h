// Defines the constants of MCP: revisions, error codes, keys of params._meta, header names, log
// levels.
//
// One server supports two protocol eras. A request of the stateless era (2026-07-28) names its
// version in params._meta. A client of the legacy era (2025-11-25 and before) opens a session with
// `initialize`.
//
//   const bool legacy = is_legacy_version("2025-06-18");              // true
//   const std::optional<LogLevel> level = log_level_from("warning");  // LogLevel::warning
//
// Everything is constexpr.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::mcp {

constexpr std::string_view kStatelessVersion = "2026-07-28";
/// The session-based revisions, newest first. The server offers the first revision to a client that
/// asks for an unknown revision.
constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18",
                                                             "2025-03-26", "2024-11-05"};

constexpr bool is_legacy_version(std::string_view version) {
  return std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) !=
         kLegacyVersions.end();
}

// Error codes of JSON-RPC 2.0.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
// Error codes of MCP's session-based revisions.
constexpr int kResourceNotFound = -32002;  // 2026-07-28 uses kInvalidParams instead
// Error codes of MCP 2026-07-28.
constexpr int kHeaderMismatch = -32020;
constexpr int kMissingCapability = -32021;
constexpr int kUnsupportedVersion = -32022;

// Keys of params._meta.
constexpr const char* kMetaVersion = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kMetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
constexpr const char* kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
constexpr const char* kMetaLogLevel = "io.modelcontextprotocol/logLevel";
constexpr const char* kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
constexpr const char* kMetaRelatedTask = "io.modelcontextprotocol/related-task";  // 2025-11-25
constexpr const char* kMetaProgressToken = "progressToken";
constexpr const char* kMetaTraceParent = "traceparent";  // W3C Trace Context

/// The name of the tasks extension of 2026-07-28.
constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

// HTTP headers. Comparisons of their names ignore case.
constexpr const char* kHeaderVersion = "MCP-Protocol-Version";
constexpr const char* kHeaderMethod = "Mcp-Method";
constexpr const char* kHeaderName = "Mcp-Name";
constexpr const char* kHeaderSession = "Mcp-Session-Id";

/// The time in milliseconds for which a client may cache the results of server/discover and of the
/// list methods. Caching is safe, because a running server never changes its registered tools,
/// resources and prompts.
constexpr std::int64_t kListTtlMs = 3'600'000;

/// The maximum size of one message in bytes, on any transport. It is many times the maximum size of
/// a submission's source.
constexpr std::int64_t kMaxMessageBytes = 4LL << 20;

/// The severities of log messages (notifications/message), lowest first. They are the severities of
/// syslog (RFC 5424).
enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };

constexpr std::array<std::string_view, 8> kLogLevelNames = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
constexpr const char* kValidLogLevels =
    "debug, info, notice, warning, error, critical, alert, emergency";

constexpr std::string_view to_string(LogLevel level) {
  return kLogLevelNames[static_cast<std::size_t>(level)];
}

constexpr std::optional<LogLevel> log_level_from(std::string_view name) {
  for (std::size_t i = 0; i < kLogLevelNames.size(); ++i) {
    if (kLogLevelNames[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

}  // namespace assay::mcp
