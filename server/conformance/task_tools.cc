// Defines tools whose calls become tasks.
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "server/conformance/fixtures.h"

namespace assay::conformance {
namespace {

using mcp::RequestContext;
using mcp::TaskSupport;
using mcp::Tool;
using mcp::ToolResult;
using nlohmann::json;

using Work = std::function<ToolResult(RequestContext& context)>;

constexpr std::chrono::milliseconds kShortJob{300};

ToolResult later(Work work) {
  ToolResult out;
  out.work = std::move(work);
  return out;
}

Tool tool(std::string name, std::string description, json properties, TaskSupport support,
          std::function<ToolResult(const json&, RequestContext&)> call) {
  Tool out;
  out.name = std::move(name);
  out.description = std::move(description);
  out.input_schema = object_schema(std::move(properties));
  out.call = std::move(call);
  out.task_support = support;
  return out;
}

ToolResult compute(const json& arguments, RequestContext&) {
  const auto time =
      std::chrono::milliseconds(static_cast<std::int64_t>(arguments.value("seconds", 1.0) * 1000));
  const std::string label = arguments.value("label", "");
  return later([time, label](RequestContext& context) {
    return system_clock().pause(time, context.stop) ? text("computed " + label)
                                                    : text("stopped", true);
  });
}

ToolResult fail_later(const json&, RequestContext&) {
  return later([](RequestContext& context) {
    system_clock().pause(kShortJob, context.stop);
    return text("the job failed, as it always does", true);
  });
}

/// Returns a tool whose result violates the tool's own output schema, so that its task ends with a
/// protocol error.
Tool broken_tool() {
  Tool out = tool(
      "protocol_error_job", "Ends in a protocol error", json::object(), TaskSupport::optional,
      [](const json&, RequestContext&) {
        return later([](RequestContext&) { return ToolResult{false, "", {{"sum", "three"}}}; });
      });
  out.output_schema = object_schema({{"sum", {{"type", "integer"}}}}, {"sum"});
  return out;
}

ToolResult confirm_delete(const json& arguments, RequestContext&) {
  return later([file = arguments.value("filename", "a file")](RequestContext& context) {
    if (!context.inputs.contains("confirm"))
      return need({{"confirm", ask_for("Delete " + file + "?", "confirm", "boolean")}});
    return text(answered(context, "confirm", "confirm") == "true" ? "deleted " + file
                                                                  : "kept " + file);
  });
}

ToolResult two_inputs(const json&, RequestContext&) {
  return later([](RequestContext& context) {
    if (context.inputs.size() < 2)
      return need({{"first", ask_for("The first name?", "name", "string")},
                   {"second", ask_for("The second name?", "name", "string")}});
    return text("both answers are there");
  });
}

/// A tool that first asks for input and becomes a task only after the client has answered.
ToolResult ask_then_work(const json&, RequestContext& before) {
  const auto name = answered(before, "user_name", "name");
  if (!name) return need({{"user_name", ask_for("What is your name?", "name", "string")}});
  return later([name = *name](RequestContext& context) {
    system_clock().pause(kShortJob, context.stop);
    return text("Hello, " + name + "!");
  });
}

}  // namespace

Status add_task_tools(mcp::Server& server) {
  Tool greet = tool("greet", "Greets at once", {{"name", {{"type", "string"}}}},
                    TaskSupport::forbidden, [](const json& arguments, RequestContext&) {
                      return text("Hello, " + arguments.value("name", "you") + "!");
                    });
  std::vector<Tool> tools = {
      std::move(greet),
      tool("slow_compute", "Takes some seconds",
           {{"seconds", {{"type", "number"}}}, {"label", {{"type", "string"}}}},
           TaskSupport::optional, compute),
      tool("failing_job", "Fails after a while", json::object(), TaskSupport::required, fail_later),
      broken_tool(),
      tool("confirm_delete", "Asks before it deletes", {{"filename", {{"type", "string"}}}},
           TaskSupport::optional, confirm_delete),
      tool("multi_input", "Asks two things at once", json::object(), TaskSupport::optional,
           two_inputs),
      tool("test_tool_with_task", "Asks, then becomes a task", json::object(),
           TaskSupport::required, ask_then_work),
  };
  for (Tool& entry : tools) {
    if (Status added = server.add_tool(std::move(entry)); !added) return added;
  }
  return {};
}

}  // namespace assay::conformance
