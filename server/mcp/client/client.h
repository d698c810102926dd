// An MCP client, for the reference agents: the same protocol that any outside agent speaks.
//
//   auto client = mcp::Client::connect_stdio({"assay", "serve", "--stdio"});
//   auto result = (*client)->call_tool("fetch_spec", {{"operator", "vector_add"}});
//
// Calls from several threads are safe; each waits for its own answer.
//
// Everything that an MCP client can ask of a server, in both eras. The reference agents need less:
// client.h.
//
//   auto client = ProtocolClient::connect_http("http://127.0.0.1:8080/mcp");
//   (*client)->call_tool("run_tests", arguments, {.progress = show, .cancelled = stop, .as_task =
//   true});
//   (*client)->list("resources/list", "resources");                 // every page
//   (*client)->request("resources/read", {{"uri", "guide://triton"}});
//
// Calls from several threads are safe. It declares no capabilities but tasks, so no server asks it
// for input.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/client/channel.h"
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

struct CallOptions {
  std::int64_t timeout_ms = 300'000;  // of one request; a task may take longer
  std::function<void(double progress, double total, const std::string& message)> progress =
      {};                                // null: none is asked for; total 0: unknown
  std::function<bool()> cancelled = {};  // true gives up and cancels at the server
  bool as_task = false;  // takes a task where the server makes one, and follows it to its end
};

class ProtocolClient final : public Client {
 public:
  static Result<std::unique_ptr<ProtocolClient>> connect_stdio(
      const std::vector<std::string>& command);
  static Result<std::unique_ptr<ProtocolClient>> connect_http(const std::string& url,
                                                              const std::string& bearer_token = "");
  explicit ProtocolClient(std::unique_ptr<Channel> channel);

  /// Probes for the stateless revision, and opens a legacy session where the server does not know
  /// it, or where `legacy` asks for one.
  Status connect(bool legacy = false);
  /// The revision that is spoken.
  const std::string& version() const { return version_; }

  Result<std::vector<std::string>> list_tools() override;
  Result<ToolResult> call_tool(const std::string& name, const nlohmann::json& arguments,
                               std::int64_t timeout_ms) override;
  Result<ToolResult> call_tool(const std::string& name, const nlohmann::json& arguments,
                               const CallOptions& options);
  Result<std::vector<std::string>> list_resources() override;
  Result<std::string> read_resource(const std::string& uri) override;

  /// The `result` of any request. A JSON-RPC error is an Error: invalid_argument, not_found, or
  /// unavailable, with the server's words.
  Result<nlohmann::json> request(const std::string& method, nlohmann::json params,
                                 const CallOptions& options = {});
  /// Every entry of a list, page by page: tools/list "tools", resources/list "resources",
  /// resources/templates/list "resourceTemplates", prompts/list "prompts".
  Result<std::vector<nlohmann::json>> list(const std::string& method, const std::string& key);

 private:
  Result<nlohmann::json> exchange(const std::string& method, nlohmann::json params,
                                  const CallOptions& options);
  /// Asks for a task until it is over; its CallToolResult.
  Result<nlohmann::json> follow_task(const nlohmann::json& task, const CallOptions& options);

  const std::unique_ptr<Channel> channel_;
  std::string version_;  // fixed once connect() has returned
  std::atomic<std::int64_t> next_id_{1};
};

}  // namespace assay::mcp
