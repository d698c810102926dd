// Defines MCP clients. Client is the interface that the reference agents use; their tests provide a
// different implementation. ProtocolClient implements Client. It supports every request that a
// client can send, in both protocol eras.
//
//   const Result<std::unique_ptr<Client>> client =
//       Client::connect_stdio({"assay", "serve", "--stdio"});
//   const Result<ToolResult> spec =
//       (*client)->call_tool("fetch_spec", {{"operator", "vector_add"}});
//
// Several threads may call a client simultaneously; each thread waits for its own answer.
// ProtocolClient declares no capability except tasks, so a server never asks it for input.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "server/mcp/client/channel.h"
#include "server/mcp/core/server.h"

namespace assay::mcp {

class Client {
 public:
  virtual ~Client() = default;
  virtual Result<std::vector<std::string>> list_tools() = 0;
  /// Calls a tool. If the tool fails, the result is a ToolResult with is_error. An Error means that
  /// there is no result: the connection failed, the server refused the call, or the task of the
  /// call did not complete.
  virtual Result<ToolResult> call_tool(const std::string& name, const nlohmann::json& arguments,
                                       std::int64_t timeout_ms = 300'000) = 0;
  /// Returns the URIs of the resources that the server lists.
  virtual Result<std::vector<std::string>> list_resources() = 0;
  /// Returns the text of a resource. Errors: invalid_argument or not_found, with the server's
  /// message, if there is no such resource. Any other Error means that the connection failed or
  /// that the server could not answer.
  virtual Result<std::string> read_resource(const std::string& uri) = 0;

  /// Starts `command` and communicates with it over its stdin and stdout. Its stderr is that of
  /// this process.
  static Result<std::unique_ptr<Client>> connect_stdio(const std::vector<std::string>& command);
  /// Connects to a running server. `url` has the form http://HOST:PORT/mcp.
  static Result<std::unique_ptr<Client>> connect_http(const std::string& url,
                                                      const std::string& bearer_token = "");
};

struct CallOptions {
  std::int64_t timeout_ms = 300'000;  // the time limit of one request; a task may take longer
  /// Receives the progress of the call. `total` is 0 if the total is unknown. Null: the client does
  /// not ask for progress.
  std::function<void(double progress, double total, const std::string& message)> progress = {};
  /// The caller requests a stop to abandon the call and cancel it at the server.
  std::stop_token stop = {};
  /// Allows the server to run the call as a task. The client then polls the task until it ends.
  bool as_task = false;
};

class ProtocolClient final : public Client {
 public:
  static Result<std::unique_ptr<ProtocolClient>> connect_stdio(
      const std::vector<std::string>& command);
  static Result<std::unique_ptr<ProtocolClient>> connect_http(const std::string& url,
                                                              const std::string& bearer_token = "");
  /// The clock must outlive the client.
  explicit ProtocolClient(std::unique_ptr<Channel> channel, const Clock& clock = system_clock());

  /// Finds out whether the server supports the stateless revision. If the server does not, or if
  /// `legacy` is true, opens a session.
  Status connect(bool legacy = false);
  /// The revision that client and server agreed to use.
  const std::string& version() const { return version_; }

  Result<std::vector<std::string>> list_tools() override;
  Result<ToolResult> call_tool(const std::string& name, const nlohmann::json& arguments,
                               std::int64_t timeout_ms) override;
  Result<ToolResult> call_tool(const std::string& name, const nlohmann::json& arguments,
                               const CallOptions& options);
  Result<std::vector<std::string>> list_resources() override;
  Result<std::string> read_resource(const std::string& uri) override;

  /// Sends any request and returns its `result`. A JSON-RPC error becomes an Error with the
  /// server's message. The code of this Error is invalid_argument, not_found or unavailable.
  /// Another Error is `corrupt`: the answer has an unexpected form.
  Result<nlohmann::json> request(const std::string& method, nlohmann::json params,
                                 const CallOptions& options = {});
  /// Returns the entries of all pages of a list. `key` is the name of the list in the answer. The
  /// valid pairs of method and key are: tools/list "tools", resources/list "resources",
  /// resources/templates/list "resourceTemplates", prompts/list "prompts".
  Result<std::vector<nlohmann::json>> list(const std::string& method, const std::string& key);

 private:
  Result<nlohmann::json> exchange(const std::string& method, nlohmann::json params,
                                  const CallOptions& options);
  /// Polls a task until it has ended, and returns its CallToolResult.
  Result<nlohmann::json> follow_task(const nlohmann::json& task, const CallOptions& options);

  const std::unique_ptr<Channel> channel_;
  const Clock& clock_;
  std::string version_;  // does not change after connect()
  std::atomic<std::int64_t> next_id_{1};
};

}  // namespace assay::mcp
