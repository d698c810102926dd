// A tool: a name, JSON Schemas and one function. The server checks arguments and results against
// the schemas.
//
//   server.add_tool({.name = "add", .title = "Add", .description = "Adds.", .input_schema = {...},
//   .output_schema = {...},
//                    .annotations = {{"readOnlyHint", true}}, .call = [](const json& arguments,
//                    RequestContext&) { return ToolResult{...}; }});
//
// `call` runs on many threads at once.
//
// The registered tools with their compiled schemas: lists them, finds them, and has the steps of a
// call: arguments checked, exceptions caught, result checked. tool_caller.h puts the steps in
// order. Registration first, then calls from many threads at once.
//
//   const ToolRegistry::Entry* entry = tools.find("add");
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"
#include "server/mcp/protocol/http_headers.h"
#include "server/mcp/schema/schema.h"

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

class ToolRegistry {
 public:
  Status add(Tool tool);

  /// The `tools` array of tools/list, in the order of registration.
  const nlohmann::json& list() const { return list_; }
  /// The same for 2025-11-25, which lists whether a tool's calls may be tasks.
  const nlohmann::json& legacy_list() const { return legacy_list_; }
  /// Some tool's calls may become tasks.
  bool has_tasks() const { return has_tasks_; }
  std::string names() const;

  struct Entry {
    Tool tool;
    Schema input;
    std::optional<Schema> output;
    std::vector<ParamHeader> headers;
  };
  /// Null when there is no such tool. A call is looked up once, by Dispatcher::resolve().
  const Entry* find(const std::string& name) const;

  /// Bad arguments are a result with isError that says what is wrong with each; nothing when they
  /// conform. Turns 3.0 into 3 where the schema wants an integer.
  std::optional<ToolResult> refuse_arguments(const Entry& entry, nlohmann::json& arguments) const;
  /// Runs the handler, or what it left to do. An exception becomes a result with isError that keeps
  /// its text from the client.
  ToolResult run(const Entry& entry, const std::function<ToolResult()>& work) const;
  /// A CallToolResult. An Error (`internal`) means that the tool broke its own output schema, and
  /// is logged. A failed call's structured part is passed on only where it conforms: some clients
  /// check it even then.
  Result<nlohmann::json> render(const Entry& entry, ToolResult result) const;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  nlohmann::json list_ = nlohmann::json::array();
  nlohmann::json legacy_list_ = nlohmann::json::array();
  bool has_tasks_ = false;
};

}  // namespace assay::mcp
