// Prompts: messages that a user picks (a slash command, say) to start a conversation with a model.
//
//   server.add_prompt({.name = "write_kernel", .arguments = {{.name = "operator", .required = true,
//   .complete = complete_from(names)}},
//                      .get = [](const Variables& arguments, RequestContext&) ->
//                      Result<PromptResult> { return PromptResult{"", {{"user",
//                      text_content("...")}}}; }});
//
// `get` runs on many threads at once, after the server has checked that every required argument is
// there and no unknown one. Its Error's message reaches the client.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/completion.h"
#include "server/mcp/protocol/content.h"

namespace assay::mcp {

struct PromptMessage {
  std::string role;        // "user" or "assistant"
  nlohmann::json content;  // one block (content.h)
};

struct PromptResult {
  std::string description;
  std::vector<PromptMessage> messages;
  std::optional<InputRequired> input_required = {};  // instead of messages (input.h)
};

struct PromptArgument {
  std::string name;
  std::string title = {}, description = {};
  bool required = false;
  Completer complete = nullptr;
};

struct Prompt {
  std::string name;
  std::string title = {}, description = {};
  std::vector<PromptArgument> arguments = {};
  std::vector<Icon> icons = {};
  std::function<Result<PromptResult>(const Variables& arguments, RequestContext& context)> get;
};

}  // namespace assay::mcp
