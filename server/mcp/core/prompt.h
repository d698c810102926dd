// Defines prompts. A prompt is a list of messages with which a user starts a conversation with a
// model, for example by a slash command. PromptRegistry lists the registered prompts, checks
// arguments, and returns the messages of a prompt.
//
//   Prompt prompt{.name = "write_kernel",
//                 .arguments = {{.name = "operator", .required = true}},
//                 .get = [](const Variables& arguments, RequestContext&) -> Result<PromptResult> {
//                   const std::string text = "Write a kernel for " + arguments.at("operator");
//                   return PromptResult{"", {{"user", text_content(text)}}};
//                 }};
//   const Status added = server.add_prompt(std::move(prompt));
//
// Many threads call `get` simultaneously. Before each call, the registry checks that all required
// arguments are present and that no argument is unknown. If `get` returns an Error, the client
// receives the Error's message.
//
// All prompts must be registered before the first call. After that, a registry is thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/completion.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

struct PromptMessage {
  std::string role;        // "user" or "assistant"
  nlohmann::json content;  // one content block (content.h)
};

struct PromptResult {
  std::string description;
  std::vector<PromptMessage> messages;
  /// The input that the handler needs before it can return messages (input.h). If it is set,
  /// `messages` is ignored.
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

/// Returns the protocol's GetPromptResult.
nlohmann::json to_json(PromptResult result);

class PromptRegistry {
 public:
  Status add(Prompt prompt);
  bool empty() const { return prompts_.empty(); }
  const nlohmann::json& list() const { return list_; }

  /// Returns the messages of the prompt that `params` names. Errors: kInvalidParams if the prompt
  /// is unknown, if an argument is unknown or missing, or if a value is not a string. The message
  /// lists the valid names.
  Rpc<PromptResult> get(const nlohmann::json& params, RequestContext& context) const;

  /// Returns the completer of an argument, or null when the argument has no completer. Returns an
  /// error if the prompt or the argument is unknown.
  Rpc<Completer> completer(const std::string& name, const std::string& argument) const;
  /// Returns true when at least one argument has a completer.
  bool completes() const;

 private:
  Rpc<const Prompt*> find(const nlohmann::json& name) const;

  std::vector<std::unique_ptr<Prompt>> prompts_;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace assay::mcp
