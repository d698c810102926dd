// Prompts: messages that a user picks, for example as a slash command, to start a conversation with
// a model. PromptRegistry lists the registered prompts, checks arguments, and gets the messages.
//
//   Prompt prompt{.name = "write_kernel",
//                 .arguments = {{.name = "operator", .required = true}},
//                 .get = [](const Variables& arguments, RequestContext&) -> Result<PromptResult> {
//                   const std::string text = "Write a kernel for " + arguments.at("operator");
//                   return PromptResult{"", {{"user", text_content(text)}}};
//                 }};
//   const Status added = server.add_prompt(std::move(prompt));
//
// `get` is called from many threads at once. Before that, the server has checked that every
// required argument is there and that there is no unknown one. The message of an Error reaches the
// client.
//
// All prompts must be registered before the first call; then a registry is thread-safe.
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
  /// Instead of messages: the input that the handler needs first (input.h).
  std::optional<InputRequired> input_required = {};
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

/// The protocol's GetPromptResult.
nlohmann::json to_json(PromptResult result);

class PromptRegistry {
 public:
  Status add(Prompt prompt);
  bool empty() const { return prompts_.empty(); }
  const nlohmann::json& list() const { return list_; }

  /// Gets the messages of the prompt that `params` names. An unknown prompt, an unknown or missing
  /// argument, or a value that is no string is refused with kInvalidParams and the valid names.
  Rpc<PromptResult> get(const nlohmann::json& params, RequestContext& context) const;

  /// Returns the completer of an argument, or null when the argument has none. An unknown prompt or
  /// argument is an error.
  Rpc<Completer> completer(const std::string& name, const std::string& argument) const;
  /// True when some argument has a completer.
  bool completes() const;

 private:
  Rpc<const Prompt*> find(const nlohmann::json& name) const;

  std::vector<std::unique_ptr<Prompt>> prompts_;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace assay::mcp
