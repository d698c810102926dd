#include "server/mcp/core/task.h"

#include <algorithm>
#include <array>

#include "base/rfc3339.h"
#include "server/mcp/core/task_table.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

json common(const TaskRecord& record, TaskStatus status) {
  json out = {{"taskId", record.id},
              {"status", to_string(status)},
              {"createdAt", iso_time(record.created_unix_ms)},
              {"lastUpdatedAt", iso_time(record.updated_unix_ms)}};
  if (!record.message.empty()) out["statusMessage"] = record.message;
  return out;
}

bool is_tool_error(const TaskRecord& record) {
  return record.status == TaskStatus::completed && record.outcome.is_object() &&
         record.outcome.value("isError", false);
}

Rpc<std::string> id_of(const json& params) {
  const auto id = params.find("taskId");
  if (id == params.end() || !id->is_string())
    return refuse_rpc(kInvalidParams, "params.taskId must be a string");
  return id->get<std::string>();
}

constexpr std::array<std::string_view, 5> kStatusNames = {"working", "input_required", "completed",
                                                          "failed", "cancelled"};

}  // namespace

std::string_view to_string(TaskStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::optional<TaskStatus> task_status_from(std::string_view text) {
  const auto found = std::find(kStatusNames.begin(), kStatusNames.end(), text);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<TaskStatus>(found - kStatusNames.begin());
}

RpcError missing_tasks_extension() {
  return {
      kMissingCapability,
      std::string("Missing required client capability: the request must declare the extension ") +
          kTasksExtension,
      {{"requiredCapabilities", {{"extensions", {{kTasksExtension, json::object()}}}}}}};
}

json created_task(const TaskView& task, const TaskLimits& limits) {
  json out = common(task.record, task.record.status);
  out["ttlMs"] = task.record.ttl_ms;
  out["pollIntervalMs"] = limits.poll_interval_ms;
  return out;
}

json detailed_task(const TaskView& task, const TaskLimits& limits) {
  json out = created_task(task, limits);
  if (task.record.status == TaskStatus::completed) out["result"] = task.record.outcome;
  if (task.record.status == TaskStatus::failed) out["error"] = task.record.outcome;
  if (task.record.status == TaskStatus::input_required)
    out["inputRequests"] = to_json(task.input_requests);
  return out;
}

json legacy_task(const TaskView& task, const TaskLimits& limits) {
  json out =
      common(task.record, is_tool_error(task.record) ? TaskStatus::failed : task.record.status);
  out["ttl"] = task.record.ttl_ms;
  out["pollInterval"] = limits.poll_interval_ms;
  return out;
}

Rpc<json> get_task(TaskTable& tasks, const json& params, const std::string& principal,
                   bool stateless) {
  const auto id = id_of(params);
  if (!id) return tl::unexpected<RpcError>(id.error());
  return tasks.find(*id, principal).map([&](const TaskView& task) {
    return stateless ? detailed_task(task, tasks.limits()) : legacy_task(task, tasks.limits());
  });
}

Rpc<json> cancel_task(TaskTable& tasks, const json& params, const std::string& principal,
                      bool stateless) {
  const auto id = id_of(params);
  if (!id) return tl::unexpected<RpcError>(id.error());
  if (stateless)
    return tasks.cancel(*id, principal).map([](const TaskView&) { return json::object(); });
  const auto before = tasks.find(*id, principal);
  if (before && is_terminal(before->record.status)) {
    return refuse_rpc(kInvalidParams, "the task is over already: its status is '" +
                                          std::string(to_string(before->record.status)) + "'");
  }
  return tasks.cancel(*id, principal).map([&](const TaskView& task) {
    return legacy_task(task, tasks.limits());
  });
}

Rpc<json> update_task(TaskTable& tasks, const json& params, const std::string& principal) {
  const auto id = id_of(params);
  if (!id) return tl::unexpected<RpcError>(id.error());
  const auto answers = params.find("inputResponses");
  if (answers == params.end() || !answers->is_object())
    return refuse_rpc(kInvalidParams, "params.inputResponses must be an object");
  for (const auto& [key, answer] : answers->items()) {
    if (!answer.is_object())
      return refuse_rpc(kInvalidParams, "params.inputResponses['" + key + "'] must be an object");
  }
  return tasks.update(*id, principal, *answers).map([] { return json::object(); });
}

Rpc<json> task_result(TaskTable& tasks, const json& params, const std::string& principal,
                      std::stop_token stop) {
  const auto id = id_of(params);
  if (!id) return tl::unexpected<RpcError>(id.error());
  const auto task = tasks.wait(*id, principal, std::move(stop));
  if (!task) return tl::unexpected<RpcError>(task.error());
  const TaskRecord& record = task->record;
  if (record.status == TaskStatus::failed)
    return refuse_rpc(record.outcome.value("code", kInternalError),
                      record.outcome.value("message", "the task failed"));
  if (record.status != TaskStatus::completed)
    return refuse_rpc(kInternalError, "the task has no result: its status is '" +
                                          std::string(to_string(record.status)) + "'");
  json result = record.outcome;
  result["_meta"][kMetaRelatedTask] = {{"taskId", record.id}};
  return result;
}

}  // namespace assay::mcp
