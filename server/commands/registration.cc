#include "server/commands/registration.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "tools/registry.h"

namespace assay::server {
namespace {

constexpr std::int64_t kConstantTtlMs =
    3'600'000;  // like the tools' list: it does not change while the server runs

mcp::Completer adapt(const tools::Suggest& suggest) {
  if (!suggest) return nullptr;
  return [suggest](const std::string& typed, const mcp::Variables& others) {
    return mcp::complete_from(suggest(others))(typed, others);
  };
}

Result<mcp::ReadResult> read(const tools::ResourceFamily& family, const std::string& uri,
                             const tools::Values& values) {
  Result<std::string> text = family.read(values);
  if (!text) return fail(text.error());
  mcp::ReadResult result = mcp::one_text(uri, family.mime_type, std::move(*text));
  if (family.constant) {
    result.ttl_ms = kConstantTtlMs;
    result.shareable = true;
  }
  return result;
}

/// "operator://{name}/spec" -> "operator://vector_add/spec". Values that are listed are names,
/// which need no percent-encoding.
std::string expanded(std::string uri, const tools::Values& values) {
  for (const auto& [name, value] : values) {
    const std::string variable = "{" + name + "}";
    if (const auto at = uri.find(variable); at != std::string::npos)
      uri.replace(at, variable.size(), value);
  }
  return uri;
}

}  // namespace

mcp::Tool adapt(tools::Tool tool) {
  mcp::Tool adapted;
  adapted.name = tool.name;
  adapted.title = tool.title;
  adapted.description = tool.description;
  adapted.input_schema = tool.input_schema;
  adapted.output_schema = tool.output_schema;
  adapted.annotations = {{"readOnlyHint", tool.read_only},
                         {"destructiveHint", tool.destructive},
                         {"idempotentHint", tool.idempotent},
                         {"openWorldHint", tool.open_world}};
  const auto answer = [run = std::move(tool.run)](const nlohmann::json& arguments,
                                                  mcp::RequestContext& request) {
    const tools::CallContext context{
        request.progress, request.cancelled, request.is_task,
        [&request](std::string_view scope) { return request.allows(scope); }};
    tools::Answer given = run(arguments, context);
    mcp::ToolResult result{given.is_error, std::move(given.text), std::move(given.structured)};
    for (const tools::Image& image : given.images)
      result.content.push_back(mcp::image_content(image.bytes, image.mime_type));
    return result;
  };
  adapted.call = answer;
  if (!tool.long_running) return adapted;
  adapted.task_support = mcp::TaskSupport::optional;
  adapted.call = [answer](const nlohmann::json& arguments, mcp::RequestContext&) {
    mcp::ToolResult later;
    later.work = [answer, arguments](mcp::RequestContext& request) {
      return answer(arguments, request);
    };
    return later;
  };
  return adapted;
}

mcp::Prompt adapt(tools::Prompt prompt) {
  mcp::Prompt adapted;
  adapted.name = prompt.name;
  adapted.title = prompt.title;
  adapted.description = prompt.description;
  for (tools::PromptArgument& argument : prompt.arguments) {
    adapted.arguments.push_back({.name = argument.name,
                                 .description = argument.description,
                                 .required = argument.required,
                                 .complete = adapt(argument.suggest)});
  }
  adapted.get = [description = prompt.description, text = std::move(prompt.text)](
                    const mcp::Variables& arguments,
                    mcp::RequestContext&) -> Result<mcp::PromptResult> {
    Result<std::string> message = text(arguments);
    if (!message) return fail(message.error());
    return mcp::PromptResult{description, {{"user", mcp::text_content(std::move(*message))}}};
  };
  return adapted;
}

Status add_family(mcp::Server& server, const tools::ResourceFamily& given) {
  // One for all members: each would otherwise hold a copy, with the list of all the others.
  const auto shared = std::make_shared<const tools::ResourceFamily>(given);
  const tools::ResourceFamily& family = *shared;
  mcp::ResourceTemplate shape;
  shape.uri_template = family.uri_template;
  shape.name = family.name;
  shape.title = family.title;
  shape.description = family.description;
  shape.mime_type = family.mime_type;
  for (const auto& [variable, suggest] : family.suggest) shape.variables[variable] = adapt(suggest);
  shape.read = [shared](const std::string& uri, const mcp::Variables& values,
                        mcp::RequestContext&) { return read(*shared, uri, values); };
  if (const Status added = server.add_template(std::move(shape)); !added)
    return fail(added.error());
  for (const tools::ListedResource& listed : family.listed) {
    mcp::Resource resource;
    resource.uri = expanded(family.uri_template, listed.values);
    resource.name = listed.name;
    resource.title = listed.title;
    resource.description = listed.description;
    resource.mime_type = family.mime_type;
    resource.read = [shared, uri = resource.uri, values = listed.values](mcp::RequestContext&) {
      return read(*shared, uri, values);
    };
    if (const Status added = server.add_resource(std::move(resource)); !added)
      return fail(added.error());
  }
  return {};
}

Status add_all(mcp::Server& server, tools::Services& services,
               const std::vector<operators::Guide>& guides) {
  for (tools::Tool& tool : tools::make_tools(services)) {
    if (const Status added = server.add_tool(adapt(std::move(tool))); !added)
      return fail(added.error());
  }
  for (const tools::ResourceFamily& family : tools::make_resources(services, guides)) {
    if (const Status added = add_family(server, family); !added) return fail(added.error());
  }
  for (tools::Prompt& prompt : tools::make_prompts(services, guides)) {
    if (const Status added = server.add_prompt(adapt(std::move(prompt))); !added)
      return fail(added.error());
  }
  return {};
}

}  // namespace assay::server
