#include "server/mcp/client.h"

#include <atomic>
#include <cstdint>

#include "server/mcp/channel.h"
#include "server/mcp/jsonrpc.h"
#include "server/mcp/protocol.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::int64_t kHandshakeTimeoutMs = 15'000;  // covers a server that loads much before it answers
constexpr std::int64_t kListTimeoutMs = 30'000;
constexpr int kMaxPages = 100;
const json kClientInfo = {{"name", "assay-agent"}, {"version", "0.1.0"}};

Error protocol_error(const std::string& method, const json& error) {
  const int code = error.value("code", kInternalError);
  const std::string message = error.value("message", "");
  const ErrorCode kind = code == kInvalidParams ? ErrorCode::invalid_argument : code == kMethodNotFound ? ErrorCode::not_found : ErrorCode::unavailable;
  return {kind, method + " was refused: " + message + " (code " + std::to_string(code) + ")"};
}

bool contains(const json& list, std::string_view value) { return list.is_array() && std::find(list.begin(), list.end(), value) != list.end(); }

class ProtocolClient final : public Client {
 public:
  explicit ProtocolClient(std::unique_ptr<Channel> channel) : channel_(std::move(channel)), version_(kStatelessVersion) {}

  /// Probes for the stateless revision, and opens a legacy session where the server does not know it.
  Status connect() {
    auto probe = exchange("server/discover", json::object(), kHandshakeTimeoutMs);
    if (probe && probe->contains("result") && contains((*probe)["result"].value("supportedVersions", json()), kStatelessVersion)) return {};
    if (!probe && probe.error().code != ErrorCode::unavailable) return fail(probe.error());
    version_ = std::string(kLegacyVersions.front());
    auto opened = exchange("initialize", {{"protocolVersion", version_}, {"capabilities", json::object()}, {"clientInfo", kClientInfo}}, kHandshakeTimeoutMs);
    if (!opened) return fail(probe ? opened.error() : probe.error());
    if (opened->contains("error")) return fail(protocol_error("initialize", (*opened)["error"]));
    const std::string agreed = (*opened)["result"].value("protocolVersion", "");
    if (!is_legacy_version(agreed)) return fail(ErrorCode::unavailable, "the server speaks MCP revision '" + agreed + "', which this client does not");
    version_ = agreed;
    return channel_->notify(make_notification("notifications/initialized", json::object()), version_);
  }

  Result<std::vector<std::string>> list_tools() override {
    std::vector<std::string> names;
    json params = json::object();
    for (int page = 0; page < kMaxPages; ++page) {
      auto result = complete("tools/list", params, kListTimeoutMs);
      if (!result) return fail(result.error());
      for (const json& tool : result->value("tools", json::array())) names.push_back(tool.value("name", ""));
      if (!result->contains("nextCursor")) return names;
      params["cursor"] = (*result)["nextCursor"];
    }
    return fail(ErrorCode::resource_exhausted, "tools/list has more than " + std::to_string(kMaxPages) + " pages");
  }

  Result<ToolResult> call_tool(const std::string& name, const json& arguments, std::int64_t timeout_ms) override {
    auto result = complete("tools/call", {{"name", name}, {"arguments", arguments.is_null() ? json::object() : arguments}}, timeout_ms);
    if (!result) return fail(result.error());
    ToolResult out;
    out.is_error = result->value("isError", false);
    out.structured = result->value("structuredContent", json());
    for (const json& block : result->value("content", json::array())) {
      if (block.value("type", "") != "text") continue;
      if (!out.text.empty()) out.text += '\n';
      out.text += block.value("text", "");
    }
    return out;
  }

 private:
  /// The response's body, with `result` or `error`.
  Result<json> exchange(const std::string& method, json params, std::int64_t timeout_ms) {
    if (version_ == kStatelessVersion) {
      params["_meta"] = {{kMetaVersion, version_}, {kMetaClientCapabilities, json::object()}, {kMetaClientInfo, kClientInfo}};
    }
    return channel_->request(make_request(next_id_++, method, std::move(params)), version_, timeout_ms);
  }

  Result<json> complete(const std::string& method, json params, std::int64_t timeout_ms) {
    try {
      auto body = exchange(method, std::move(params), timeout_ms);
      if (!body) return fail(body.error());
      if (body->contains("error")) return fail(protocol_error(method, (*body)["error"]));
      json result = (*body)["result"];
      if (!result.is_object()) return fail(ErrorCode::corrupt, "the result of " + method + " is no object");
      if (const std::string type = result.value("resultType", "complete"); type != "complete") {
        return fail(ErrorCode::unavailable, "the result of " + method + " has type '" + type + "', which this client did not ask for");
      }
      return result;
    } catch (const json::exception& error) {
      return fail(ErrorCode::corrupt, "the answer to " + method + " has an unexpected form: " + error.what());
    }
  }

  const std::unique_ptr<Channel> channel_;
  std::string version_;  // fixed once connect() has returned
  std::atomic<std::int64_t> next_id_{1};
};

Result<std::unique_ptr<Client>> connect(std::unique_ptr<Channel> channel) {
  auto client = std::make_unique<ProtocolClient>(std::move(channel));
  try {
    if (auto status = client->connect(); !status) return fail(status.error());
  } catch (const json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("the server's handshake has an unexpected form: ") + error.what());
  }
  return client;
}

}  // namespace

Result<std::unique_ptr<Client>> Client::connect_stdio(const std::vector<std::string>& command) {
  auto channel = open_stdio_channel(command);
  if (!channel) return fail(channel.error());
  return connect(std::move(*channel));
}

Result<std::unique_ptr<Client>> Client::connect_http(const std::string& url, const std::string& bearer_token) {
  return connect(open_http_channel(url, bearer_token));
}

}  // namespace assay::mcp
