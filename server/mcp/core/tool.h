// Defines a tool: a name, two JSON Schemas and one function. ToolRegistry contains the registered
// tools with their compiled schemas. Its functions are the steps of a call: check the arguments,
// run the function, catch exceptions, and check the result. ToolCaller (tool_caller.h) calls these
// functions in this order.
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
// Many threads run the function `call` simultaneously. All tools must be registered before the
// first call. After that, a registry is thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"
#include "server/mcp/protocol/http_headers.h"
#include "server/mcp/schema/schema.h"

namespace assay::mcp {

struct ToolResult {
  bool is_error = false;
  /// The text of the first content block. If the text is empty and there are other content blocks,
  /// this block is omitted.
  std::string text = {};
  nlohmann::json structured = {};            // an object, or null when there is none
  std::vector<nlohmann::json> content = {};  // further content blocks (content.h)
  /// The input that the handler needs before it can return a result. The handler is called again
  /// with the answers in its context.
  std::optional<InputRequired> input_required = {};
  /// A function for the rest of the call, which the handler returns instead of a result. The
  /// function may take long. It becomes a task if the client accepts tasks; otherwise it runs
  /// immediately. If it needs input, it is called again with the answers. It must not refer to the
  /// handler's context, because that context may no longer exist.
  std::function<ToolResult(RequestContext& context)> work = {};
};

/// Says whether the calls of a tool can, cannot, or must become tasks.
enum class TaskSupport { forbidden, optional, required };

struct Tool {
  std::string name, title, description;
  /// The JSON Schema 2020-12 for the arguments. The schema's type must be object.
  nlohmann::json input_schema;
  /// The JSON Schema for ToolResult::structured. Null when the tool returns no structured result.
  nlohmann::json output_schema = {};
  nlohmann::json annotations = {};  // the protocol's hints: readOnlyHint, ...
  std::function<ToolResult(const nlohmann::json& arguments, RequestContext& context)> call;
  std::vector<Icon> icons = {};
  TaskSupport task_support = TaskSupport::forbidden;
  /// True if the tool writes log messages or asks for input. Its answer over HTTP must then be an
  /// event stream.
  bool interactive = false;
  /// Returns the scope that a call with these arguments needs and the caller lacks, or "" if there
  /// is none. A transport may ask before the call, so the arguments may violate the schema. The
  /// call itself must check the scope too. Null: no call needs a scope.
  std::function<std::string(const nlohmann::json& arguments, const Caller& caller)> missing_scope =
      {};
  /// A shorter schema that tools/list shows instead of `output_schema`, because clients give the
  /// list to a model. Every value that conforms to `output_schema` must conform to this schema too.
  /// Null: the list shows `output_schema`.
  nlohmann::json listed_output_schema = {};
};

class ToolRegistry {
 public:
  Status add(Tool tool);

  /// The `tools` array of tools/list, in the order of registration.
  const nlohmann::json& list() const { return list_; }
  /// The `tools` array for clients of revision 2025-11-25. It also says which tools may be called
  /// as tasks.
  const nlohmann::json& legacy_list() const { return legacy_list_; }
  /// Returns true when calls of at least one tool may become tasks.
  bool has_tasks() const { return has_tasks_; }
  /// The names of all tools, separated by commas.
  std::string names() const;

  struct Entry {
    Tool tool;
    Schema input;
    std::optional<Schema> output;
    std::vector<ParamHeader> headers;
  };
  /// Returns the tool with this name, or null if there is none. Dispatcher::resolve() calls this
  /// function once for each call.
  const Entry* find(const std::string& name) const;

  /// Checks `arguments` against the input schema. Returns nothing if the arguments conform,
  /// otherwise a result with isError that lists all problems. Replaces a value such as 3.0 by 3 if
  /// the schema requires an integer.
  std::optional<ToolResult> refuse_arguments(const Entry& entry, nlohmann::json& arguments) const;
  /// Runs `work`, which is the tool's function or ToolResult::work. If `work` throws an exception,
  /// returns a result with isError. The text of the exception is only logged, so that it does not
  /// reach the client.
  ToolResult run(const Entry& entry, const std::function<ToolResult()>& work) const;
  /// Returns the protocol's CallToolResult. If a successful result violates the tool's output
  /// schema, returns the error `internal` and logs it. If the structured part of a failed result
  /// violates the schema, this part is omitted, because some clients check the schema even for
  /// failed calls.
  Result<nlohmann::json> render(const Entry& entry, ToolResult result) const;

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  nlohmann::json list_ = nlohmann::json::array();
  nlohmann::json legacy_list_ = nlohmann::json::array();
  bool has_tasks_ = false;
};

}  // namespace assay::mcp
