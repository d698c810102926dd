// Defines the server that the fuzz targets send messages to. It has one tool, one resource, one
// resource template and one prompt. None of them waits or has side effects.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "server/mcp/core/server.h"

namespace assay::mcp::fuzz {

inline void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::abort();
}

inline void add_tools(Server& server) {
  const nlohmann::json number = {{"type", "integer"}, {"minimum", -1000}, {"maximum", 1000}};
  const nlohmann::json input = {
      {"type", "object"},
      {"properties",
       {{"a", number},
        {"b", number},
        {"mode", {{"type", "string"}, {"enum", {"plain", "loud"}}, {"default", "plain"}}},
        {"text", {{"type", "string"}, {"maxLength", 100}}},
        {"list", {{"type", "array"}, {"maxItems", 4}, {"items", {{"type", "string"}}}}}}},
      {"required", {"a"}},
      {"additionalProperties", false}};
  const nlohmann::json output = {
      {"type", "object"}, {"properties", {{"sum", {{"type", "integer"}}}}}, {"required", {"sum"}}};
  must(server.add_tool({"add", "Add", "Adds.", input, output, nullptr,
                        [](const nlohmann::json& arguments, RequestContext& context) {
                          context.progress(1, 2, "half");
                          const auto sum = arguments["a"].get<std::int64_t>() +
                                           arguments.value("b", std::int64_t{0});
                          return ToolResult{context.cancelled(), "sum", {{"sum", sum}}};
                        }}));
  must(server.add_tool({"throw",
                        "",
                        "Throws.",
                        {{"type", "object"}},
                        nullptr,
                        nullptr,
                        [](const nlohmann::json&, RequestContext&) -> ToolResult {
                          throw std::runtime_error("thrown");
                        }}));
}

inline void add_catalog(Server& server) {
  must(server.add_resource({.uri = "doc://a",
                            .name = "a",
                            .mime_type = "text/plain",
                            .read = [](RequestContext&) -> Result<ReadResult> {
                              return one_text("doc://a", "text/plain", "A");
                            }}));
  must(server.add_template({.uri_template = "item://{name}/text",
                            .name = "item",
                            .variables = {{"name", complete_from({"vector_add", "softmax"})}},
                            .read = [](const std::string& uri, const Variables& variables,
                                       RequestContext&) -> Result<ReadResult> {
                              if (variables.at("name") != "softmax")
                                return fail(ErrorCode::not_found, "no such item; valid: softmax");
                              return one_text(uri, "text/plain", "the text");
                            }}));
  must(server.add_prompt(
      {.name = "write",
       .arguments = {{.name = "operator",
                      .required = true,
                      .complete = complete_from({"vector_add", "softmax"})}},
       .get = [](const Variables& arguments, RequestContext&) -> Result<PromptResult> {
         return PromptResult{"", {{"user", text_content("write " + arguments.at("operator"))}}};
       }}));
}

inline std::unique_ptr<Server> make_server() {
  auto server = std::make_unique<Server>(
      ServerInfo{.name = "fuzz", .title = "", .version = "1", .instructions = "Fuzz."},
      ServerLimits{.page_size = 1});
  add_tools(*server);
  add_catalog(*server);
  return server;
}

}  // namespace assay::mcp::fuzz
