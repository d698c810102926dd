// Defines fakes for the tests of the agents: an MCP client that answers like the server and
// remembers every call, and a model that always gives the same reply.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "reference_agents/llm/llm_client.h"
#include "server/mcp/client/client.h"

namespace assay::agents::testing {

using nlohmann::json;

class FakeServer final : public mcp::Client {
 public:
  Result<std::vector<std::string>> list_tools() override { return std::vector<std::string>{}; }
  Result<mcp::ToolResult> call_tool(const std::string& name, const json& arguments,
                                    std::int64_t) override {
    calls.emplace_back(name, arguments);
    if (on_call) on_call();
    auto& queue = answers[name];
    if (queue.empty()) return fail(ErrorCode::unavailable, name + ": the connection is closed");
    mcp::ToolResult answer = queue.front();
    if (queue.size() > 1) queue.erase(queue.begin());
    return answer;
  }
  Result<std::vector<std::string>> list_resources() override { return std::vector<std::string>{}; }
  Result<std::string> read_resource(const std::string& uri) override {
    return fail(ErrorCode::not_found, "there is no " + uri);
  }
  int count(const std::string& name) const {
    int found = 0;
    for (const auto& call : calls) found += call.first == name ? 1 : 0;
    return found;
  }
  const json& arguments_of(const std::string& name) const {
    for (const auto& call : calls) {
      if (call.first == name) return call.second;
    }
    throw std::runtime_error("no call of " + name);
  }
  std::map<std::string, std::vector<mcp::ToolResult>> answers;
  std::function<void()> on_call;  // runs before each answer
  std::vector<std::pair<std::string, json>> calls;
};

class FakeModel final : public LlmClient {
 public:
  Result<CompletionReply> complete(const CompletionRequest& request) override {
    prompts.push_back(request);
    if (!error.message.empty()) return fail(error);
    return reply;
  }
  std::string label() const override { return "fake:model"; }
  bool is_model() const override { return true; }
  CompletionReply reply{"Here.\n```python\ndef scale(x):\n    return x\n```\n", "stop", 100, 20,
                        true};
  Error error;
  std::vector<CompletionRequest> prompts;
};

}  // namespace assay::agents::testing
