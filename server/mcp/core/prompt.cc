#include "server/mcp/core/prompt.h"

#include <algorithm>
#include <exception>

#include "base/log.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

json describe(const Prompt& prompt) {
  json shown = {{"name", prompt.name}};
  if (!prompt.title.empty()) shown["title"] = prompt.title;
  if (!prompt.description.empty()) shown["description"] = prompt.description;
  for (const PromptArgument& argument : prompt.arguments) {
    json entry = {{"name", argument.name}, {"required", argument.required}};
    if (!argument.title.empty()) entry["title"] = argument.title;
    if (!argument.description.empty()) entry["description"] = argument.description;
    shown["arguments"].push_back(std::move(entry));
  }
  show_icons(shown, prompt.icons);
  return shown;
}

std::string argument_names(const Prompt& prompt) {
  return prompt.arguments.empty() ? "none" : join(prompt.arguments, ", ", &PromptArgument::name);
}

const PromptArgument* find_argument(const Prompt& prompt, const std::string& name) {
  const auto found =
      std::find_if(prompt.arguments.begin(), prompt.arguments.end(),
                   [&](const PromptArgument& argument) { return argument.name == name; });
  return found == prompt.arguments.end() ? nullptr : &*found;
}

Rpc<Variables> read_arguments(const Prompt& prompt, const json& params) {
  const json arguments = params.value("arguments", json());
  if (!arguments.is_null() && !arguments.is_object())
    return refuse_rpc(kInvalidParams, "params.arguments must be an object of strings");
  Variables values;
  for (const auto& [name, value] : arguments.items()) {
    if (find_argument(prompt, name) == nullptr) {
      return refuse_rpc(kInvalidParams, "prompt '" + prompt.name + "' has no argument '" + name +
                                            "'; valid: " + argument_names(prompt));
    }
    if (!value.is_string())
      return refuse_rpc(kInvalidParams, "params.arguments." + name + " must be a string");
    values[name] = value;
  }
  for (const PromptArgument& argument : prompt.arguments) {
    if (argument.required && values.count(argument.name) == 0) {
      return refuse_rpc(kInvalidParams,
                        "prompt '" + prompt.name + "' needs the argument '" + argument.name + "'");
    }
  }
  return values;
}

}  // namespace

json to_json(PromptResult result) {
  json messages = json::array();
  for (PromptMessage& message : result.messages)
    messages.push_back(
        {{"role", std::move(message.role)}, {"content", std::move(message.content)}});
  json out = {{"messages", std::move(messages)}};
  if (!result.description.empty()) out["description"] = result.description;
  return out;
}

Status PromptRegistry::add(Prompt prompt) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "prompt '" + prompt.name + "': " + why);
  };
  if (prompt.name.empty()) return refuse("there is no name");
  if (find(prompt.name)) return refuse("there is already a prompt of this name");
  if (!prompt.get) return refuse("there is no handler");
  for (const PromptArgument& argument : prompt.arguments) {
    if (argument.name.empty() || find_argument(prompt, argument.name) != &argument)
      return refuse("an argument has no name, or two have the same");
  }
  list_.push_back(describe(prompt));
  prompts_.push_back(std::make_unique<Prompt>(std::move(prompt)));
  return {};
}

Rpc<const Prompt*> PromptRegistry::find(const json& name) const {
  for (const auto& prompt : prompts_) {
    if (name == prompt->name) return prompt.get();
  }
  const std::string known = join(prompts_, ", ", [](const auto& prompt) { return prompt->name; });
  if (!name.is_string())
    return refuse_rpc(kInvalidParams, "params.name must be a string; valid: " + known);
  return refuse_rpc(kInvalidParams, "Unknown prompt: '" + name.get<std::string>() +
                                        "'; valid: " + (known.empty() ? "none" : known));
}

Rpc<PromptResult> PromptRegistry::get(const json& params, RequestContext& context) const {
  const auto prompt = find(params.value("name", json()));
  if (!prompt) return tl::unexpected<RpcError>(prompt.error());
  const auto arguments = read_arguments(**prompt, params);
  if (!arguments) return tl::unexpected<RpcError>(arguments.error());
  Result<PromptResult> result =
      fail(ErrorCode::internal,
           "internal error in prompt '" + (*prompt)->name + "'; the server's log has the details");
  try {
    result = (*prompt)->get(*arguments, context);
  } catch (const std::exception& error) {
    log::error("a prompt threw an exception",
               {{"prompt", (*prompt)->name}, {"error", error.what()}});
  } catch (...) {
    log::error("a prompt threw something that is no std::exception", {{"prompt", (*prompt)->name}});
  }
  if (!result) return refuse_rpc(result.error());
  return std::move(*result);
}

Rpc<Completer> PromptRegistry::completer(const std::string& name,
                                         const std::string& argument) const {
  const auto prompt = find(name);
  if (!prompt) return tl::unexpected<RpcError>(prompt.error());
  const PromptArgument* found = find_argument(**prompt, argument);
  if (found == nullptr)
    return refuse_rpc(kInvalidParams, "prompt '" + name + "' has no argument '" + argument +
                                          "'; valid: " + argument_names(**prompt));
  return found->complete;
}

bool PromptRegistry::completes() const {
  return std::any_of(prompts_.begin(), prompts_.end(), [](const auto& prompt) {
    return std::any_of(prompt->arguments.begin(), prompt->arguments.end(),
                       [](const PromptArgument& argument) { return argument.complete != nullptr; });
  });
}

}  // namespace assay::mcp
