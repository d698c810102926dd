#include "server/mcp/client/client.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/protocol.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// The time limit of each request of the handshake. It is long, because a server may load a lot of
/// data before it answers the first request.
constexpr std::int64_t kHandshakeTimeoutMs = 15'000;
constexpr std::int64_t kListTimeoutMs = 30'000;
constexpr int kMaxPages = 100;
/// The shortest and the longest interval between two polls of a task. The server suggests an
/// interval, which is clamped to this range.
constexpr std::int64_t kMinPollMs = 20, kMaxPollMs = 5'000;
const json kClientInfo = {{"name", "assay-agent"}, {"version", "0.1.0"}};

Error protocol_error(const std::string& method, const json& error) {
  const int code = error.value("code", kInternalError);
  const std::string message = error.value("message", "");
  const ErrorCode kind = code == kInvalidParams ? ErrorCode::invalid_argument
                         : code == kMethodNotFound || code == kResourceNotFound
                             ? ErrorCode::not_found
                             : ErrorCode::unavailable;
  return {kind, method + " was refused: " + message + " (code " + std::to_string(code) + ")"};
}

bool contains(const json& list, std::string_view value) {
  return list.is_array() && std::find(list.begin(), list.end(), value) != list.end();
}

ToolResult read_result(const json& result) {
  ToolResult out;
  out.is_error = result.value("isError", false);
  out.structured = result.value("structuredContent", json());
  for (const json& block : result.value("content", json::array())) {
    if (block.value("type", "") != "text") {
      out.content.push_back(block);
      continue;
    }
    if (!out.text.empty()) out.text += '\n';
    out.text += block.value("text", "");
  }
  return out;
}

/// Runs `work`, which reads a server's answer. If the answer has an unexpected form, `work` throws
/// an exception, and this function returns an Error.
template <class Work>
auto guarded(const std::string& what, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const json::exception& error) {
    return fail(ErrorCode::corrupt,
                "the answer to " + what + " has an unexpected form: " + error.what());
  }
}

Result<std::unique_ptr<ProtocolClient>> connected(std::unique_ptr<Channel> channel) {
  auto client = std::make_unique<ProtocolClient>(std::move(channel));
  if (auto status = client->connect(); !status) return fail(status.error());
  return client;
}

}  // namespace

Result<std::unique_ptr<Client>> Client::connect_stdio(const std::vector<std::string>& command) {
  auto client = ProtocolClient::connect_stdio(command);
  if (!client) return fail(client.error());
  return std::move(*client);
}

Result<std::unique_ptr<Client>> Client::connect_http(const std::string& url,
                                                     const std::string& bearer_token) {
  auto client = ProtocolClient::connect_http(url, bearer_token);
  if (!client) return fail(client.error());
  return std::move(*client);
}

Result<std::unique_ptr<ProtocolClient>> ProtocolClient::connect_stdio(
    const std::vector<std::string>& command) {
  auto channel = open_stdio_channel(command);
  if (!channel) return fail(channel.error());
  return connected(std::move(*channel));
}

Result<std::unique_ptr<ProtocolClient>> ProtocolClient::connect_http(
    const std::string& url, const std::string& bearer_token) {
  return connected(open_http_channel(url, bearer_token));
}

ProtocolClient::ProtocolClient(std::unique_ptr<Channel> channel, const Clock& clock)
    : channel_(std::move(channel)), clock_(clock), version_(kStatelessVersion) {}

Status ProtocolClient::connect(bool legacy) {
  return guarded("the handshake", [&]() -> Status {
    const CallOptions brief{.timeout_ms = kHandshakeTimeoutMs};
    Result<json> probe = fail(ErrorCode::unavailable, "");
    if (!legacy) {
      probe = exchange("server/discover", json::object(), brief);
      if (probe && probe->contains("result") &&
          contains((*probe)["result"].value("supportedVersions", json()), kStatelessVersion))
        return {};
      if (!probe && probe.error().code != ErrorCode::unavailable) return fail(probe.error());
    }
    version_ = std::string(kLegacyVersions.front());
    auto opened = exchange("initialize",
                           {{"protocolVersion", version_},
                            {"capabilities", json::object()},
                            {"clientInfo", kClientInfo}},
                           brief);
    if (!opened) return fail(probe || legacy ? opened.error() : probe.error());
    if (opened->contains("error")) return fail(protocol_error("initialize", (*opened)["error"]));
    const std::string agreed = (*opened)["result"].value("protocolVersion", "");
    if (!is_legacy_version(agreed))
      return fail(ErrorCode::unavailable,
                  "the server speaks MCP revision '" + agreed + "', which this client does not");
    version_ = agreed;
    return channel_->notify(make_notification("notifications/initialized", json::object()),
                            version_);
  });
}

Result<json> ProtocolClient::exchange(const std::string& method, json params,
                                      const CallOptions& options) {
  const std::int64_t id = next_id_++;
  Wait wait{.timeout_ms = options.timeout_ms, .notified = {}, .stop = options.stop};
  if (options.progress) {
    params["_meta"][kMetaProgressToken] = id;
    wait.notified = [&options](const json& notification) {
      const json& told = notification["params"];
      if (notification["method"] == "notifications/progress")
        options.progress(told.value("progress", 0.0), told.value("total", 0.0),
                         told.value("message", ""));
    };
  }
  if (version_ == kStatelessVersion) {
    json capabilities = json::object();
    if (options.as_task) capabilities["extensions"][kTasksExtension] = json::object();
    params["_meta"].update({{kMetaVersion, version_},
                            {kMetaClientCapabilities, std::move(capabilities)},
                            {kMetaClientInfo, kClientInfo}});
  } else if (options.as_task && method == "tools/call") {
    params["task"] = json::object();
  }
  return channel_->request(make_request(id, method, std::move(params)), version_, wait);
}

Result<json> ProtocolClient::request(const std::string& method, json params,
                                     const CallOptions& options) {
  return guarded(method, [&]() -> Result<json> {
    auto body = exchange(method, std::move(params), options);
    if (!body) return fail(body.error());
    if (body->contains("error")) return fail(protocol_error(method, (*body)["error"]));
    json result = (*body)["result"];
    if (!result.is_object())
      return fail(ErrorCode::corrupt, "the result of " + method + " is no object");
    const std::string type = result.value("resultType", "complete");
    if (type != "complete" && !(type == "task" && options.as_task))
      return fail(ErrorCode::unavailable, "the result of " + method + " has type '" + type +
                                              "', which this client did not ask for");
    return result;
  });
}

Result<std::vector<json>> ProtocolClient::list(const std::string& method, const std::string& key) {
  return guarded(method, [&]() -> Result<std::vector<json>> {
    std::vector<json> out;
    json params = json::object();
    for (int page = 0; page < kMaxPages; ++page) {
      auto result = request(method, params, {.timeout_ms = kListTimeoutMs});
      if (!result) return fail(result.error());
      for (json& entry : (*result)[key]) out.push_back(std::move(entry));
      if (!result->contains("nextCursor")) return out;
      params["cursor"] = (*result)["nextCursor"];
    }
    return fail(ErrorCode::resource_exhausted,
                method + " has more than " + std::to_string(kMaxPages) + " pages");
  });
}

Result<std::vector<std::string>> ProtocolClient::list_tools() {
  auto tools = list("tools/list", "tools");
  if (!tools) return fail(tools.error());
  std::vector<std::string> names;
  for (const json& tool : *tools) names.push_back(tool.value("name", ""));
  return names;
}

Result<std::vector<std::string>> ProtocolClient::list_resources() {
  auto resources = list("resources/list", "resources");
  if (!resources) return fail(resources.error());
  std::vector<std::string> addresses;
  for (const json& resource : *resources) addresses.push_back(resource.value("uri", ""));
  return addresses;
}

Result<std::string> ProtocolClient::read_resource(const std::string& uri) {
  return guarded("resources/read", [&]() -> Result<std::string> {
    const auto result = request("resources/read", {{"uri", uri}});
    if (!result) return fail(result.error());
    std::string text;
    for (const json& part : result->value("contents", json::array()))
      text += part.value("text", "");
    return text;
  });
}

Result<ToolResult> ProtocolClient::call_tool(const std::string& name, const json& arguments,
                                             std::int64_t timeout_ms) {
  return call_tool(name, arguments, {.timeout_ms = timeout_ms});
}

Result<ToolResult> ProtocolClient::call_tool(const std::string& name, const json& arguments,
                                             const CallOptions& options) {
  return guarded("tools/call", [&]() -> Result<ToolResult> {
    const json params = {{"name", name},
                         {"arguments", arguments.is_null() ? json::object() : arguments}};
    auto result = request("tools/call", params, options);
    if (!result && options.as_task && version_ != kStatelessVersion &&
        result.error().code == ErrorCode::not_found) {
      // A server of revision 2025-11-25 refuses to create a task if the tool does not support
      // tasks. So the tool is called again, without a task.
      CallOptions plain = options;
      plain.as_task = false;
      result = request("tools/call", params, plain);
    }
    if (!result) return fail(result.error());
    const bool flat = result->value("resultType", "") == "task";
    if (flat || result->contains("task")) {
      result = follow_task(flat ? *result : (*result)["task"], options);
      if (!result) return fail(result.error());
    }
    return read_result(*result);
  });
}

Result<json> ProtocolClient::follow_task(const json& task, const CallOptions& options) {
  const json which = {{"taskId", task.at("taskId")}};
  const bool stateless = version_ == kStatelessVersion;
  const char* interval = stateless ? "pollIntervalMs" : "pollInterval";
  CallOptions asking = options;
  asking.progress = nullptr;
  asking.stop = {};
  double polls = 0;
  for (json now = task;;) {
    const std::string status = now.value("status", "");
    if (status == "input_required") {
      static_cast<void>(request("tasks/cancel", which, asking));
      return fail(
          ErrorCode::unavailable,
          "the task needs input from a user, which this client cannot give; it was cancelled");
    }
    if (status != "working") {
      if (!stateless) return request("tasks/result", which, asking);
      if (status == "completed") return now.at("result");
      return fail(ErrorCode::unavailable,
                  "the task ended as " + status + ": " + now.value("statusMessage", ""));
    }
    if (options.progress) options.progress(++polls, 0, now.value("statusMessage", ""));
    const std::chrono::milliseconds pause(
        std::clamp<std::int64_t>(now.value(interval, kMaxPollMs), kMinPollMs, kMaxPollMs));
    if (!clock_.pause(pause, options.stop)) {
      static_cast<void>(request("tasks/cancel", which, asking));
      return fail(ErrorCode::cancelled, "the task was cancelled");
    }
    auto next = request("tasks/get", which, asking);
    if (!next) return fail(next.error());
    now = std::move(*next);
  }
}

}  // namespace assay::mcp
