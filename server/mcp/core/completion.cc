#include "server/mcp/core/completion.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "server/mcp/core/prompt.h"
#include "server/mcp/core/resource.h"

namespace assay::mcp {

Completer complete_from(std::vector<std::string> values) {
  return [values = std::move(values)](const std::string& typed, const Variables&) {
    const std::string wanted = lower_case(typed);
    std::vector<std::string> begin, contain;
    for (const std::string& value : values) {
      const std::size_t at = lower_case(value).find(wanted);
      if (at == 0)
        begin.push_back(value);
      else if (at != std::string::npos)
        contain.push_back(value);
    }
    begin.insert(begin.end(), contain.begin(), contain.end());
    return begin;
  };
}

namespace {

using nlohmann::json;

struct Asked {
  Completer completer;
  std::string typed;
};

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Returns the string at params.outer.inner, or nothing when there is no such string.
std::optional<std::string> text_at(const json& params, const char* outer, const char* inner) {
  const json* object = member(params, outer);
  const json* value = object == nullptr ? nullptr : member(*object, inner);
  return value != nullptr && value->is_string() ? std::optional(value->get<std::string>())
                                                : std::nullopt;
}

Rpc<Asked> read_params(const json& params, const PromptRegistry& prompts,
                       const ResourceRegistry& resources) {
  const auto type = text_at(params, "ref", "type");
  const auto name = text_at(params, "argument", "name");
  const auto typed = text_at(params, "argument", "value");
  if (!name || !typed)
    return refuse_rpc(kInvalidParams, "params.argument must have the strings 'name' and 'value'");
  if (type == "ref/prompt") {
    const auto prompt = text_at(params, "ref", "name");
    if (!prompt) return refuse_rpc(kInvalidParams, "params.ref.name must be a string");
    return prompts.completer(*prompt, *name).map([&](const Completer& completer) {
      return Asked{completer, *typed};
    });
  }
  if (type == "ref/resource") {
    const auto uri = text_at(params, "ref", "uri");
    if (!uri) return refuse_rpc(kInvalidParams, "params.ref.uri must be a string");
    return resources.completer(*uri, *name).map([&](const Completer& completer) {
      return Asked{completer, *typed};
    });
  }
  return refuse_rpc(kInvalidParams, "params.ref.type must be ref/prompt or ref/resource");
}

Variables other_values(const json& params) {
  Variables values;
  const json* context = member(params, "context");
  const json* arguments = context == nullptr ? nullptr : member(*context, "arguments");
  if (arguments == nullptr || !arguments->is_object()) return values;
  for (const auto& [name, value] : arguments->items()) {
    if (value.is_string()) values[name] = value;
  }
  return values;
}

}  // namespace

Rpc<json> complete_value(const json& params, const PromptRegistry& prompts,
                         const ResourceRegistry& resources) {
  const auto asked = read_params(params, prompts, resources);
  if (!asked) return tl::unexpected<RpcError>(asked.error());
  std::vector<std::string> values;
  try {
    if (asked->completer) values = asked->completer(asked->typed, other_values(params));
  } catch (const std::exception& error) {
    log::error("a completer threw an exception", {{"error", error.what()}});
    return refuse_rpc(kInternalError,
                      "internal error while completing; the server's log has the details");
  }
  const std::size_t total = values.size();
  values.resize(std::min(total, kMaxCompletionValues));
  return json{{"completion",
               {{"values", std::move(values)},
                {"total", total},
                {"hasMore", total > kMaxCompletionValues}}}};
}

}  // namespace assay::mcp
