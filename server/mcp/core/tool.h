// A tool: a name, JSON Schemas and one function. The server checks arguments and results against
// the schemas.
//
//   server.add_tool({.name = "add", .title = "Add", .description = "Adds.", .input_schema = {...},
//   .output_schema = {...},
//                    .annotations = {{"readOnlyHint", true}}, .call = [](const json& arguments,
//                    RequestContext&) { return ToolResult{...}; }});
//
// `call` runs on many threads at once.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"

namespace assay::mcp {

struct ToolResult {
  bool is_error = false;
  std::string text;           // the first content block; left out when empty and there are others
  nlohmann::json structured;  // object, or null when there is none
  std::vector<nlohmann::json> content = {};  // further blocks (content.h)
  /// Instead of a result: what must be known first. The handler is called again with the answers in
  /// its context.
  std::optional<InputRequired> input_required = {};
  /// Instead of a result: the rest of the call, which may take long. It becomes a task for a client
  /// that takes one, and runs at once for others. It may be run again, with the answers, when it
  /// needs input. Must not refer to the handler's context.
  std::function<ToolResult(RequestContext& context)> work = {};
};

/// Whether calls may, or must, become tasks.
enum class TaskSupport { forbidden, optional, required };

struct Tool {
  std::string name, title, description;
  nlohmann::json input_schema,
      output_schema;           // JSON Schema 2020-12, objects; output_schema may be null
  nlohmann::json annotations;  // readOnlyHint, ...
  std::function<ToolResult(const nlohmann::json& arguments, RequestContext& context)> call;
  std::vector<Icon> icons = {};
  TaskSupport task_support = TaskSupport::forbidden;
  bool interactive = false;  // it logs or asks for input: over HTTP its answer is an event stream
};

}  // namespace assay::mcp
