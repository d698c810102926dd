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
//
// The registered prompts: lists them, finds one, checks its arguments, gets its messages.
// Registration first, then calls from many threads.
//
//   book.add(prompt);
//   book.get(params, context)        ->  what the prompt says, or needs to know
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/completion.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"
#include "server/mcp/protocol/jsonrpc.h"

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

/// A GetPromptResult.
nlohmann::json to_json(PromptResult result);

class PromptRegistry {
 public:
  Status add(Prompt prompt);
  bool empty() const { return prompts_.empty(); }
  const nlohmann::json& list() const { return list_; }

  /// Unknown prompts, unknown or missing arguments and values that are no strings: kInvalidParams
  /// with the valid names.
  Rpc<PromptResult> get(const nlohmann::json& params, RequestContext& context) const;

  /// The completer of an argument; null when it has none. An error when there is no such prompt or
  /// argument.
  Rpc<Completer> completer(const std::string& name, const std::string& argument) const;
  bool completes() const;

 private:
  Rpc<const Prompt*> find(const nlohmann::json& name) const;

  std::vector<std::unique_ptr<Prompt>> prompts_;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace assay::mcp
