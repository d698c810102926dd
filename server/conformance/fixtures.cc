#include "server/conformance/fixtures.h"

#include "base/base64.h"

namespace assay::conformance {

using nlohmann::json;

mcp::ToolResult text(std::string words, bool is_error) {
  return {is_error, std::move(words), nullptr};
}

mcp::ToolResult need(std::map<std::string, mcp::InputRequest> requests, std::string state) {
  mcp::ToolResult out;
  out.input_required = mcp::InputRequired{std::move(requests), std::move(state)};
  return out;
}

mcp::InputRequest ask_for(std::string message, const char* field, const char* type) {
  return mcp::elicitation(
      std::move(message),
      {{"type", "object"}, {"properties", {{field, {{"type", type}}}}}, {"required", {field}}});
}

json object_schema(json properties, json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

std::optional<std::string> answered(const mcp::RequestContext& context, const char* key,
                                    const char* field) {
  const auto answer = context.inputs.find(key);
  if (answer == context.inputs.end() || answer->value("action", json("accept")) != "accept")
    return std::nullopt;
  const auto content = answer->find("content");
  if (content == answer->end() || !content->is_object() || !content->contains(field))
    return std::nullopt;
  const json& value = (*content)[field];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Result<std::unique_ptr<mcp::Server>> make_conformance_server() {
  mcp::ServerInfo info{.name = "assay-conformance",
                       .title = "Assay's conformance fixtures",
                       .version = "1",
                       .instructions = ""};
  info.features = {.logging = true,
                   .tools_change = true,
                   .prompts_change = true,
                   .resources_change = false,
                   .resources_update = true};
  auto server = std::make_unique<mcp::Server>(std::move(info));
  for (const auto& add : {add_content_tools, add_input_tools, add_task_tools, add_documents}) {
    if (const Status added = add(*server); !added) return fail(added.error());
  }
  return server;
}

std::string red_pixel_png() {
  return base64_decode(
             "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJR"
             "U5ErkJggg==")
      .value_or("");
}

std::string silent_wav() {
  return base64_decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==")
      .value_or("");
}

}  // namespace assay::conformance
