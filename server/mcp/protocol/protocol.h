// The constants of MCP: revisions, error codes, reserved _meta keys, header names. Nothing here has
// state.
//
// Two eras share one server. The stateless one (2026-07-28) names its version in each request's
// params._meta; the legacy ones open with `initialize`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay::mcp {

constexpr std::string_view kStatelessVersion = "2026-07-28";
/// Newest first; the first one is offered to a client that asks for a revision nobody knows.
constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18",
                                                             "2025-03-26", "2024-11-05"};

bool is_legacy_version(std::string_view version);

// JSON-RPC 2.0
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
// MCP, legacy revisions
constexpr int kResourceNotFound = -32002;  // 2026-07-28 uses kInvalidParams
// MCP, 2026-07-28
constexpr int kHeaderMismatch = -32020;
constexpr int kMissingCapability = -32021;
constexpr int kUnsupportedVersion = -32022;

// params._meta
constexpr const char* kMetaVersion = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kMetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
constexpr const char* kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
constexpr const char* kMetaLogLevel = "io.modelcontextprotocol/logLevel";
constexpr const char* kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
constexpr const char* kMetaRelatedTask = "io.modelcontextprotocol/related-task";  // 2025-11-25
constexpr const char* kMetaProgressToken = "progressToken";

/// The extension under which 2026-07-28 has tasks.
constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

// HTTP headers; compared without case.
constexpr const char* kHeaderVersion = "MCP-Protocol-Version";
constexpr const char* kHeaderMethod = "Mcp-Method";
constexpr const char* kHeaderName = "Mcp-Name";
constexpr const char* kHeaderSession = "Mcp-Session-Id";

/// How long a client may keep discover and the lists. What a running server has registered never
/// changes.
constexpr std::int64_t kListTtlMs = 3'600'000;

/// One message, on any transport; a submission's source fits many times over.
constexpr std::int64_t kMaxMessageBytes = 4LL << 20;

}  // namespace assay::mcp
