// Tests tasks: the table of tasks, and both of the protocol's forms of tasks through the
// dispatcher.
#include <atomic>
#include <latch>
#include <mutex>

#include "server/mcp/core/task_table.h"
#include "tests/server/mcp/core/task_work.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

/// Keeps records in memory, like a database. A test can make save() fail.
class MemoryStore final : public TaskStore {
 public:
  Status save(const TaskRecord& record) override {
    if (broken) return fail(ErrorCode::io, "the disk is full");
    const std::lock_guard lock(mutex_);
    records_[record.id] = record;
    return {};
  }
  Result<std::optional<TaskRecord>> load(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(id);
    return found == records_.end() ? std::nullopt : std::optional(found->second);
  }
  std::atomic<bool> broken{false};

 private:
  std::mutex mutex_;
  std::map<std::string, TaskRecord> records_;
};

/// Returns a server with tools that may (`job`), must (`must`) or cannot (`never`) be tasks.
std::unique_ptr<Server> make_task_server(TaskStore* store = nullptr) {
  auto server = std::make_unique<Server>(ServerInfo{"tasks", "", "1", ""}, ServerLimits{},
                                         ServerParts{.task_store = store});
  const auto job = [](const json& arguments, RequestContext&) {
    ToolResult out;
    out.work = [ms = arguments.value("ms", 0),
                bad = arguments.value("fail", false)](RequestContext& context) {
      json wait = {{"ms", ms}};
      ToolResult result = wait_tool(wait, context);
      return ToolResult{bad, context.is_task ? "as a task" : "at once", nullptr};
    };
    return out;
  };
  const json schema =
      object_schema({{"ms", {{"type", "integer"}}}, {"fail", {{"type", "boolean"}}}});
  for (const auto& [name, support] : {std::pair{"job", TaskSupport::optional},
                                      {"must", TaskSupport::required},
                                      {"never", TaskSupport::forbidden}}) {
    Tool tool{name, "", "Works.", schema, nullptr, nullptr, job};
    tool.task_support = support;
    REQUIRE(server->add_tool(std::move(tool)));
  }
  return server;
}

const json kTakesTasks = {
    {kMetaClientCapabilities, {{"extensions", {{kTasksExtension, json::object()}}}}}};

json stateless(const std::string& method, json params, json extra_meta = kTakesTasks) {
  params["_meta"] = meta(std::move(extra_meta));
  return make_request(1, method, std::move(params));
}

}  // namespace

TEST_CASE("tasks: work ends as completed or failed, and its outcome stays") {
  ChangeNotifier notifier;
  TaskTable tasks({}, nullptr, notifier, system_clock());
  const auto done = tasks.start({}, std::nullopt, answer_with({{"x", 1}}));
  REQUIRE(done);
  CHECK(done->record.status == TaskStatus::working);
  CHECK(tasks.wait(done->record.id, "", {})->record.outcome == json{{"x", 1}});
  CHECK(status_of(tasks, done->record.id) == TaskStatus::completed);
  const auto broken = tasks.start({}, std::nullopt, [](RequestContext&) -> Rpc<TaskTable::Step> {
    return refuse_rpc(kInternalError, "why");
  });
  CHECK(tasks.wait(broken->record.id, "", {})->record.outcome ==
        json{{"code", kInternalError}, {"message", "why"}});
  CHECK(status_of(tasks, broken->record.id) == TaskStatus::failed);
}

TEST_CASE("tasks: cancelling is final at once and reaches the work") {
  ChangeNotifier notifier;
  StubbornWork stubborn;
  std::string id;
  {
    TaskTable tasks({}, nullptr, notifier, system_clock());
    id = tasks.start({}, std::nullopt, stubborn.work())->record.id;
    REQUIRE(stubborn.running.becomes(1));
    REQUIRE(tasks.cancel(id, ""));
    CHECK(status_of(tasks, id) == TaskStatus::cancelled);
    CHECK(stubborn.noticed.becomes(1));
    stubborn.may_end.count_down();
  }
}

TEST_CASE("tasks: the late result of a cancelled task changes nothing") {
  ChangeNotifier notifier;
  MemoryStore store;
  StubbornWork stubborn;
  std::string id;
  {
    TaskTable tasks({}, &store, notifier, system_clock());
    id = tasks.start({}, std::nullopt, stubborn.work())->record.id;
    REQUIRE(stubborn.running.becomes(1));
    REQUIRE(tasks.cancel(id, ""));
    stubborn.may_end.count_down();
  }  // waits for the end of the work
  CHECK((*store.load(id))->status == TaskStatus::cancelled);
}

TEST_CASE("tasks: only their principal finds them, and only until their time is over") {
  ChangeNotifier notifier;
  ManualClock clock;
  TaskTable tasks({}, nullptr, notifier, clock);
  const auto task = tasks.start({.caller = std::make_shared<const Caller>(Caller{"alice", {}})},
                                std::nullopt, answer_with(1));
  CHECK(tasks.find(task->record.id, "alice"));
  CHECK(tasks.find(task->record.id, "bob").error().code == kInvalidParams);
  CHECK_FALSE(tasks.cancel(task->record.id, "bob"));
  CHECK_FALSE(tasks.update(task->record.id, "bob", json::object()));
  const auto brief = tasks.start({}, 30, answer_with(1));
  CHECK(tasks.find(brief->record.id, ""));
  clock.advance_ms(40);
  CHECK_FALSE(tasks.find(brief->record.id, ""));
}

TEST_CASE("tasks: input is asked under keys that are never used twice, and answered in parts") {
  ChangeNotifier notifier;
  TaskTable tasks({}, nullptr, notifier, system_clock());
  const auto work = [](RequestContext& context) -> Rpc<TaskTable::Step> {
    const InputRequest question = elicitation("?", {{"type", "object"}});
    if (context.state.empty())
      return TaskTable::Step{nullptr, InputRequired{{{"a", question}, {"b", question}}, "asked"}};
    if (context.state == "asked") {
      if (context.inputs.size() != 2)
        return refuse_rpc(kInternalError, "both answers come together");
      return TaskTable::Step{nullptr, InputRequired{{{"a", question}}, "again"}};
    }
    return TaskTable::Step{context.inputs};
  };
  const auto task =
      tasks.start({.capabilities = {{"elicitation", json::object()}}}, std::nullopt, work);
  const std::string& id = task->record.id;
  REQUIRE(eventually([&] { return status_of(tasks, id) == TaskStatus::input_required; }));
  CHECK(tasks.find(id, "")->input_requests.size() == 2);
  REQUIRE(tasks.update(id, "", {{"a", {{"n", 1}}}, {"unheard", json::object()}}));
  CHECK(tasks.find(id, "")->input_requests.count("b") == 1);
  CHECK(tasks.find(id, "")->input_requests.size() == 1);
  REQUIRE(tasks.update(id, "", {{"b", {{"n", 2}}}}));
  REQUIRE(eventually([&] { return tasks.find(id, "")->input_requests.count("a-2") == 1; }));
  REQUIRE(tasks.update(id, "", {{"a-2", {{"n", 3}}}}));
  REQUIRE(eventually([&] { return status_of(tasks, id) == TaskStatus::completed; }));
  CHECK(tasks.find(id, "")->record.outcome == json{{"a", {{"n", 3}}}});
  const auto mute = tasks.start({}, std::nullopt, work);
  REQUIRE(eventually([&] { return status_of(tasks, mute->record.id) == TaskStatus::failed; }));
  CHECK(tasks.find(mute->record.id, "")->record.outcome["code"] == kMissingCapability);
}

TEST_CASE("tasks: a task that goes on with its input is saved and published as working") {
  ChangeNotifier notifier;
  MemoryStore store;
  std::latch may_end{1};
  std::atomic<int> published{0};
  const auto listener = notifier.listen([&](const Change&) { ++published; });
  TaskTable tasks({}, &store, notifier, system_clock());
  const auto work = [&](RequestContext& context) -> Rpc<TaskTable::Step> {
    const InputRequest question = elicitation("?", {{"type", "object"}});
    if (context.state.empty())
      return TaskTable::Step{nullptr, InputRequired{{{"a", question}}, "asked"}};
    may_end.wait();
    return TaskTable::Step{1};
  };
  const auto task =
      tasks.start({.capabilities = {{"elicitation", json::object()}}}, std::nullopt, work);
  const std::string& id = task->record.id;
  const auto stored = [&] { return (*store.load(id))->status; };
  REQUIRE(eventually([&] { return stored() == TaskStatus::input_required; }));
  REQUIRE(eventually([&] { return published > 0; }));
  const int before = published;
  REQUIRE(tasks.update(id, "", {{"a", json::object()}}));
  CHECK(stored() == TaskStatus::working);
  CHECK(published == before + 1);
  may_end.count_down();
  CHECK(eventually([&] { return stored() == TaskStatus::completed; }));
}

TEST_CASE("tasks: a bounded table forgets finished tasks and refuses when all are running") {
  ChangeNotifier notifier;
  TaskTable tasks({.max_tasks = 2, .threads = 2}, nullptr, notifier, system_clock());
  const auto finished = tasks.start({}, std::nullopt, answer_with(1));
  tasks.wait(finished->record.id, "", {});
  REQUIRE(tasks.start({}, std::nullopt, until_cancelled));
  REQUIRE(tasks.start({}, std::nullopt, until_cancelled));
  CHECK_FALSE(tasks.find(finished->record.id, ""));
  const auto refused = tasks.start({}, std::nullopt, answer_with(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("the limit is 2") != std::string::npos);
}

TEST_CASE("tasks: they are stored before a client knows them, and found after a restart") {
  ChangeNotifier notifier;
  MemoryStore store;
  std::string finished, unfinished;
  {
    TaskTable tasks({}, &store, notifier, system_clock());
    finished = tasks.start({}, std::nullopt, answer_with({{"x", 1}}))->record.id;
    tasks.wait(finished, "", {});
    REQUIRE(eventually([&] { return (*store.load(finished))->status == TaskStatus::completed; }));
    const auto running = tasks.start({}, std::nullopt, until_cancelled);
    unfinished = running->record.id;
    CHECK(*store.load(unfinished));
    store.broken = true;
    // A task that cannot be saved does not start, because a crash would lose it.
    CHECK_FALSE(tasks.start({}, std::nullopt, answer_with(1)));
  }
  store.broken = false;
  TaskTable later({}, &store, notifier, system_clock());
  CHECK(later.find(finished, "")->record.outcome == json{{"x", 1}});
  CHECK(later.find(unfinished, "")->record.status == TaskStatus::failed);
  CHECK_FALSE(later.find("task_00000000000000000000000000", ""));
}

TEST_CASE("tasks/2026-07-28: only for a request that declares the extension") {
  const auto server = make_task_server();
  CHECK(response_to(*server, stateless("server/discover",
                                       json::object()))["result"]["capabilities"]["extensions"]
            .contains(kTasksExtension));
  const json created = response_to(*server, stateless("tools/call", {{"name", "job"}}))["result"];
  CHECK(created["resultType"] == "task");
  CHECK(created["status"] == "working");
  CHECK(created["ttlMs"] == 3'600'000);
  CHECK(created["pollIntervalMs"] == 1'000);
  CHECK_FALSE(created.contains("result"));
  const json ask = stateless("tasks/get", {{"taskId", created["taskId"]}});
  REQUIRE(eventually([&] { return response_to(*server, ask)["result"]["status"] == "completed"; }));
  const json got = response_to(*server, ask)["result"];
  CHECK(got["resultType"] == "complete");
  CHECK(got["result"]["content"][0]["text"] == "as a task");
  const json plain =
      response_to(*server, stateless("tools/call", {{"name", "job"}}, json::object()))["result"];
  CHECK(plain["content"][0]["text"] == "at once");
  CHECK(response_to(*server,
                    stateless("tools/call", {{"name", "never"}}))["result"]["content"][0]["text"] ==
        "at once");
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const json refused = response_to(
        *server,
        stateless(method, {{"taskId", created["taskId"]}, {"inputResponses", json::object()}},
                  json::object()))["error"];
    CHECK(refused["code"] == kMissingCapability);
    CHECK(refused["data"]["requiredCapabilities"]["extensions"].contains(kTasksExtension));
    CHECK(response_to(*server,
                      stateless(method, {{"taskId", "task_x"},
                                         {"inputResponses", json::object()}}))["error"]["code"] ==
          kInvalidParams);
    CHECK(response_to(*server, stateless(method, json::object()))["error"]["code"] ==
          kInvalidParams);
  }
  CHECK(response_to(*server, stateless("tools/call", {{"name", "must"}},
                                       json::object()))["error"]["code"] == kMissingCapability);
  CHECK(response_to(*server, stateless("tasks/list", json::object()))["error"]["code"] ==
        kMethodNotFound);
  const json failed = response_to(
      *server,
      stateless("tools/call", {{"name", "job"}, {"arguments", {{"fail", true}}}}))["result"];
  const json ask_failed = stateless("tasks/get", {{"taskId", failed["taskId"]}});
  REQUIRE(eventually([&] {
    return response_to(*server, ask_failed)["result"]["status"] == "completed";
  }));  // the tool itself failed
  CHECK(response_to(*server, ask_failed)["result"]["result"]["isError"] == true);
}

TEST_CASE("tasks/2026-07-28: a cancelled task stops the tool, and a subscription reports its end") {
  const auto server = make_task_server();
  const int cancelled = traces().cancelled;
  const json created = response_to(
      *server,
      stateless("tools/call", {{"name", "job"}, {"arguments", {{"ms", 60'000}}}}))["result"];
  std::mutex mutex;
  std::vector<json> heard;
  TransportContext exchange;
  exchange.scope = "here";
  exchange.notify = [&](const json& message) {
    const std::lock_guard lock(mutex);
    heard.push_back(message);
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return heard.size();
  };
  json listen = stateless("subscriptions/listen",
                          {{"notifications", {{"taskIds", {created["taskId"], "task_unknown"}}}}});
  std::thread stream([&] { response_to(*server, listen, exchange); });
  REQUIRE(eventually([&] { return count() == 1; }));
  CHECK(heard[0]["params"]["notifications"]["taskIds"] == json::array({created["taskId"]}));
  REQUIRE(traces().waiting.becomes(1));
  CHECK(response_to(*server, stateless("tasks/cancel",
                                       {{"taskId", created["taskId"]}}))["result"]["resultType"] ==
        "complete");
  REQUIRE(eventually([&] { return count() == 2; }));
  CHECK(heard[1]["method"] == "notifications/tasks");
  CHECK(heard[1]["params"]["status"] == "cancelled");
  CHECK(traces().cancelled.becomes(cancelled + 1));
  server->dispatcher().cancel_scope("here");
  stream.join();
}

TEST_CASE("tasks/2025-11-25: params.task, tasks/result, and the older names") {
  const auto server = make_task_server();
  const auto legacy = [&](const std::string& method, json params) {
    return response_to(*server, make_request(1, method, std::move(params)));
  };
  CHECK(
      legacy("initialize", {{"protocolVersion",
                             "2025-11-25"}})["result"]["capabilities"]["tasks"]["requests"]["tools"]
          .contains("call"));
  const json listed = legacy("tools/list", json::object())["result"]["tools"];
  CHECK(listed[0]["execution"]["taskSupport"] == "optional");
  CHECK(listed[1]["execution"]["taskSupport"] == "required");
  CHECK_FALSE(listed[2].contains("execution"));
  const json created =
      legacy("tools/call",
             {{"name", "job"}, {"arguments", {{"ms", 50}}}, {"task", {{"ttl", 60'000}}}})["result"];
  const json task = created["task"];
  CHECK(task["status"] == "working");
  CHECK(task["ttl"] == 60'000);
  CHECK(task["pollInterval"] == 1'000);
  const json result =
      legacy("tasks/result", {{"taskId", task["taskId"]}})["result"];  // waits for the end
  CHECK(result["content"][0]["text"] == "as a task");
  CHECK(result["_meta"][kMetaRelatedTask]["taskId"] == task["taskId"]);
  CHECK(legacy("tasks/get", {{"taskId", task["taskId"]}})["result"]["status"] == "completed");
  CHECK(legacy("tasks/cancel", {{"taskId", task["taskId"]}})["error"]["code"] == kInvalidParams);
  CHECK(legacy("tools/call", {{"name", "job"}})["result"]["content"][0]["text"] == "at once");
  CHECK(legacy("tools/call", {{"name", "must"}})["error"]["code"] == kMethodNotFound);
  CHECK(legacy("tools/call", {{"name", "never"}, {"task", json::object()}})["error"]["code"] ==
        kMethodNotFound);
  CHECK(legacy("tools/call", {{"name", "job"}, {"task", {{"ttl", -1}}}})["error"]["code"] ==
        kInvalidParams);
  const json failing = legacy("tools/call", {{"name", "job"},
                                             {"arguments", {{"fail", true}}},
                                             {"task", json::object()}})["result"]["task"];
  CHECK(legacy("tasks/result", {{"taskId", failing["taskId"]}})["result"]["isError"] == true);
  CHECK(legacy("tasks/get", {{"taskId", failing["taskId"]}})["result"]["status"] ==
        "failed");  // in this era, a failed tool is a failed task
}

}  // namespace assay::mcp
