// An MCP client, for the reference agents: the same protocol that any outside agent speaks.
//
//   auto client = mcp::Client::connect_stdio({"assay", "serve", "--stdio"});
//   auto result = (*client)->call_tool("fetch_spec", {{"operator", "vector_add"}});
//
// Calls from several threads are safe; each waits for its own answer.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/server.h"

namespace assay::mcp {

class Client {
 public:
  virtual ~Client() = default;
  virtual Result<std::vector<std::string>> list_tools() = 0;
  /// An Error is a broken conversation; a tool's own failure is a ToolResult with is_error.
  virtual Result<ToolResult> call_tool(const std::string& name, const nlohmann::json& arguments,
                                       std::int64_t timeout_ms = 300'000) = 0;
  /// The addresses of the resources that the server lists.
  virtual Result<std::vector<std::string>> list_resources() = 0;
  /// A resource's text. invalid_argument or not_found, in the server's words, when there is none;
  /// any other Error is a broken conversation.
  virtual Result<std::string> read_resource(const std::string& uri) = 0;

  /// Starts `command` and speaks the newest revision over its stdin and stdout. Its stderr stays
  /// ours.
  static Result<std::unique_ptr<Client>> connect_stdio(const std::vector<std::string>& command);
  /// `url`: http://HOST:PORT/mcp
  static Result<std::unique_ptr<Client>> connect_http(const std::string& url,
                                                      const std::string& bearer_token = "");
};

}  // namespace assay::mcp
