// A tool: a name, JSON Schemas and one function. The server checks arguments and results against the schemas.
//
//   server.add_tool({.name = "add", .title = "Add", .description = "Adds.", .input_schema = {...}, .output_schema = {...},
//                    .annotations = {{"readOnlyHint", true}}, .call = [](const json& arguments, RequestContext&) { return ToolResult{...}; }});
//
// `call` runs on many threads at once.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/mcp/content.h"
#include "server/mcp/icon.h"
#include "server/mcp/request_context.h"

namespace assay::mcp {

struct ToolResult {
  bool is_error = false;
  std::string text;                          // the first content block; left out when empty and there are others
  nlohmann::json structured;                 // object, or null when there is none
  std::vector<nlohmann::json> content = {};  // further blocks (content.h)
};

struct Tool {
  std::string name, title, description;
  nlohmann::json input_schema, output_schema;  // JSON Schema 2020-12, objects; output_schema may be null
  nlohmann::json annotations;                  // readOnlyHint, ...
  std::function<ToolResult(const nlohmann::json& arguments, RequestContext& context)> call;
  std::vector<Icon> icons = {};
};

}  // namespace assay::mcp
