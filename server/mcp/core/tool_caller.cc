#include "server/mcp/core/tool_caller.h"

#include "server/mcp/core/task.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

Rpc<json> rendered(const ToolRegistry& tools, const ToolRegistry::Entry& entry, ToolResult result) {
  auto out = tools.render(entry, std::move(result));
  if (!out) return refuse_rpc(kInternalError, out.error().message);
  return std::move(*out);
}

}  // namespace

Rpc<ToolCaller::RequestedTask> ToolCaller::requested_task(const ResolvedCall& call) {
  const TaskSupport support = call.tool->tool.task_support;
  RequestedTask requested;
  if (call.stateless) {
    requested.takes =
        support != TaskSupport::forbidden && call.meta.declares_extension(kTasksExtension);
    if (support == TaskSupport::required && !requested.takes)
      return tl::unexpected<RpcError>(missing_tasks_extension());
    return requested;
  }
  const auto task = call.params().find("task");
  requested.takes = task != call.params().end() && task->is_object();
  if (requested.takes && support == TaskSupport::forbidden)
    return refuse_rpc(kMethodNotFound,
                      "calls of this tool cannot be tasks; repeat it without params.task");
  if (!requested.takes && support == TaskSupport::required)
    return refuse_rpc(kMethodNotFound,
                      "calls of this tool must be tasks; repeat it with params.task");
  if (requested.takes && task->contains("ttl")) {
    const json& ttl = (*task)["ttl"];
    if (!ttl.is_number_integer() || ttl.get<std::int64_t>() <= 0)
      return refuse_rpc(kInvalidParams,
                        "params.task.ttl must be a positive number of milliseconds");
    requested.ttl_ms = ttl.get<std::int64_t>();
  }
  return requested;
}

Rpc<json> ToolCaller::call(CallScope& call) {
  const json& params = call.params();
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string())
    return refuse_rpc(kInvalidParams, "params.name must be a string; valid: " + tools_.names());
  const ToolRegistry::Entry* entry = call.call().tool;
  if (entry == nullptr)
    return refuse_rpc(kInvalidParams,
                      "Unknown tool: '" + name->get<std::string>() + "'; valid: " + tools_.names());
  json arguments = params.value("arguments", json(nullptr));
  if (arguments.is_null()) arguments = json::object();
  if (!arguments.is_object())
    return refuse_rpc(kInvalidParams, "params.arguments must be an object");
  const auto requested = requested_task(call.call());
  if (!requested) return tl::unexpected<RpcError>(requested.error());
  if (auto refused = tools_.refuse_arguments(*entry, arguments))
    return rendered(tools_, *entry, std::move(*refused));

  if (const auto problem = call.take_input(seal_)) return tl::unexpected<RpcError>(*problem);
  auto result = gather_input(call, [&](RequestContext& context) -> Rpc<ToolResult> {
    return tools_.run(*entry, [&] { return entry->tool.call(arguments, context); });
  });
  Rpc<json> out = result ? finish(*entry, std::move(*result), call, *requested)
                         : tl::unexpected<RpcError>(result.error());
  call.close();
  return out;
}

Rpc<json> ToolCaller::finish(const ToolRegistry::Entry& entry, ToolResult result, CallScope& call,
                             const RequestedTask& requested) {
  const auto needs_input = [&](const InputRequired& needed) {
    return input_required_result(needed, call, seal_);
  };
  if (result.input_required) return needs_input(*result.input_required);
  if (requested.takes && (result.work || !call.stateless()))
    return start_task(entry, std::move(result), call, requested);
  if (!result.work) return rendered(tools_, entry, std::move(result));
  const auto work = std::move(result.work);
  auto rest = gather_input(call, [&](RequestContext& context) -> Rpc<ToolResult> {
    return tools_.run(entry, [&] { return work(context); });
  });
  if (!rest) return tl::unexpected<RpcError>(rest.error());
  if (rest->input_required) return needs_input(*rest->input_required);
  return rendered(tools_, entry, std::move(*rest));
}

Rpc<json> ToolCaller::start_task(const ToolRegistry::Entry& entry, ToolResult result,
                                 CallScope& call, const RequestedTask& requested) {
  auto shared = std::make_shared<ToolResult>(std::move(result));
  const TaskTable::Work work = [this, &entry,
                                shared](RequestContext& context) -> Rpc<TaskTable::Step> {
    ToolResult now =
        shared->work ? tools_.run(entry, [&] { return shared->work(context); }) : *shared;
    if (now.input_required) return TaskTable::Step{nullptr, std::move(now.input_required)};
    return rendered(tools_, entry, std::move(now)).map([](json out) {
      return TaskTable::Step{std::move(out)};
    });
  };
  const RequestContext& context = call.context();
  const auto task = tasks_.start({context.caller, context.client_capabilities, context.inputs,
                                  context.state, context.traceparent},
                                 requested.ttl_ms, work);
  if (!task) return tl::unexpected<RpcError>(task.error());
  if (!call.stateless()) return json{{"task", legacy_task(*task, tasks_.limits())}};
  json out = created_task(*task, tasks_.limits());
  out["resultType"] = "task";
  return out;
}

}  // namespace assay::mcp
