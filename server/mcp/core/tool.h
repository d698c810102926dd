// A tool: a name, two JSON Schemas and one function. ToolRegistry keeps the registered tools with
// their compiled schemas, and has the steps of a call: it checks the arguments, catches exceptions
// and checks the result. tool_caller.h puts the steps in order.
//
//   Tool greet{.name = "greet",
//              .title = "Greet",
//              .description = "Says hello.",
//              .input_schema = {{"type", "object"}},
//              .call = [](const nlohmann::json&, RequestContext&) {
//                return ToolResult{.text = "hello"};
//              }};
//   const Status added = server.add_tool(std::move(greet));
//
// `call` is called from many threads at once. All tools must be registered before the first call;
// then a registry is thread-safe.
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
  /// The first content block. It is left out when it is empty and `content` is not.
  std::string text = {};
  nlohmann::json structured = {};            // an object, or null when there is none
  std::vector<nlohmann::json> content = {};  // further blocks (content.h)
  /// Instead of a result: the input that the handler needs first. The handler is called again with
  /// the answers in its context.
  std::optional<InputRequired> input_required = {};
  /// Instead of a result: the rest of the call, which may take long. It becomes a task if the
  /// client takes one; otherwise it runs at once. It may run again, with the answers, when it needs
  /// input. It must not refer to the handler's context.
  std::function<ToolResult(RequestContext& context)> work = {};
};

/// Says if the calls of a tool may, or must, become tasks.
enum class TaskSupport { forbidden, optional, required };

struct Tool {
  std::string name, title, description;
  /// JSON Schema 2020-12 for the arguments. The schema's type is object.
  nlohmann::json input_schema;
  /// The same for ToolResult::structured; null when the tool has no such part.
  nlohmann::json output_schema = {};
  nlohmann::json annotations = {};  // readOnlyHint, ...
  std::function<ToolResult(const nlohmann::json& arguments, RequestContext& context)> call;
  std::vector<Icon> icons = {};
  TaskSupport task_support = TaskSupport::forbidden;
  /// The tool logs or asks for input, so its answer over HTTP is an event stream.
  bool interactive = false;
};

class ToolRegistry {
 public:
  Status add(Tool tool);

  /// The `tools` array of tools/list, in the order of registration.
  const nlohmann::json& list() const { return list_; }
  /// The same for 2025-11-25. It also says which tools may be called as tasks.
  const nlohmann::json& legacy_list() const { return legacy_list_; }
  /// True when the calls of some tool may become tasks.
  bool has_tasks() const { return has_tasks_; }
  /// The names of all tools, separated by commas.
  std::string names() const;

  struct Entry {
    Tool tool;
    Schema input;
    std::optional<Schema> output;
    std::vector<ParamHeader> headers;
  };
  /// Returns null when there is no such tool. Dispatcher::resolve() looks up the tool of a call,
  /// once.
  const Entry* find(const std::string& name) const;

  /// Checks `arguments` against the input schema. Returns a result with isError that names each
  /// problem, or nothing when the arguments conform. Turns 3.0 into 3 where the schema wants an
  /// integer.
  std::optional<ToolResult> refuse_arguments(const Entry& entry, nlohmann::json& arguments) const;
  /// Runs `work`, which is the handler or the rest of its call. An exception becomes a result with
  /// isError; its text is only logged, so that it does not reach the client.
  ToolResult run(const Entry& entry, const std::function<ToolResult()>& work) const;
  /// Makes the protocol's CallToolResult. A successful result that breaks the tool's own output
  /// schema is logged and becomes an Error (`internal`). The structured part of a failed call is
  /// left out when it does not conform, because some clients check it even then.
  Result<nlohmann::json> render(const Entry& entry, ToolResult result) const;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  nlohmann::json list_ = nlohmann::json::array();
  nlohmann::json legacy_list_ = nlohmann::json::array();
  bool has_tasks_ = false;
};

}  // namespace assay::mcp
