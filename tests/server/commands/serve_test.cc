#include "server/commands/serve.h"

#include <chrono>

#include "base/json.h"
#include "base/mutex.h"
#include "server/mcp/core/dispatch.h"
#include "server/runs/services.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"
#include "tools/registry.h"

namespace assay::server {
namespace {

using nlohmann::json;

const std::vector<operators::Guide> kGuides = {
    {"triton-pitfalls", "Triton pitfalls", "# Triton pitfalls\n"}};

json result_of(mcp::Server& server, const std::string& method, json params,
               const json& capabilities = json::object()) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", capabilities}};
  const auto message = mcp::parse_message(
      json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump());
  REQUIRE(message);
  const mcp::Outcome outcome = server.dispatcher().handle(*message, {});
  REQUIRE(outcome.response);
  REQUIRE(outcome.response->contains("result"));
  return (*outcome.response)["result"];
}

/// Stores tasks, and lets a test wait until a task has ended.
class WatchedTasks final : public mcp::TaskStore {
 public:
  explicit WatchedTasks(Store& store) : stored_(store) {}
  Status save(const mcp::TaskRecord& record) override {
    Status saved = stored_.save(record);
    const MutexLock lock(mutex_);
    ended_ = ended_ || mcp::is_terminal(record.status);
    changed_.notify_all();
    return saved;
  }
  Result<std::optional<mcp::TaskRecord>> load(const std::string& id) override {
    return stored_.load(id);
  }
  bool wait_for_end() {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [this]() ASSAY_REQUIRES(mutex_) { return ended_; });
  }

 private:
  StoredTasks stored_;
  Mutex mutex_;
  Condition changed_;
  bool ended_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace

TEST_CASE("everything is registered, and clients may cache the resources that never change") {
  testing::ServicesFixture fixture;
  const tools::Services services = fixture.tool_services();
  mcp::Server server({.name = "assay", .title = "Assay", .version = "0", .instructions = ""});
  REQUIRE(register_all(server, services, kGuides));
  CHECK(result_of(server, "tools/list", json::object())["tools"].size() ==
        tools::make_tools(services).size());
  CHECK(result_of(server, "prompts/list", json::object())["prompts"].size() == 3);

  const json listed = result_of(server, "resources/list", json::object())["resources"];
  REQUIRE(listed.size() == 1);  // operators are reached through templates, so only the guide
  CHECK(listed[0]["uri"].get<std::string>().starts_with("guide://"));

  const json spec = result_of(server, "resources/read", {{"uri", "operator://row_sum/spec"}});
  CHECK(spec["ttlMs"] == 3'600'000);
  CHECK(spec["cacheScope"] == "public");
  const auto run = fixture.start(tools::Track::practice);
  const json card = result_of(server, "resources/read", {{"uri", "run://" + run + "/scorecard"}});
  CHECK(card["ttlMs"] == 0);
  CHECK(card["cacheScope"] == "private");
}

TEST_CASE(
    "a slow tool becomes a task for a client that supports tasks, and answers with the verdict") {
  testing::ServicesFixture fixture;
  // With this limit, a call that is not a task answers with a job handle at once.
  const tools::Services services = {.catalog = *fixture.catalog,
                                    .runs = fixture->runs(),
                                    .jobs = fixture->jobs(),
                                    .artifacts = fixture->artifacts(),
                                    .limits = {.answer_within_ms = 1}};
  WatchedTasks stored(fixture->store());
  mcp::Server server({.name = "assay", .title = "Assay", .version = "0", .instructions = ""}, {},
                     {.task_store = &stored});
  REQUIRE(register_all(server, services, kGuides));
  const json takes = {{"extensions", {{"io.modelcontextprotocol/tasks", json::object()}}}};
  const json arguments = {{"operator", "vector_add"},
                          {"code", "def vector_add(x, y):\n    return x + y\n"}};
  const json created =
      result_of(server, "tools/call", {{"name", "run_tests"}, {"arguments", arguments}}, takes);
  CHECK(created["resultType"] == "task");
  CHECK(*fixture->store().task(created["taskId"]));
  REQUIRE(stored.wait_for_end());
  const json task = result_of(server, "tasks/get", {{"taskId", created["taskId"]}}, takes);
  INFO(task.dump());
  CHECK(task["status"] == "completed");
  CHECK(task["result"]["structuredContent"].contains("outcome"));
  // A quick tool never becomes a task.
  CHECK(result_of(server, "tools/call", {{"name", "list_operators"}}, takes)["resultType"] ==
        "complete");
}

TEST_CASE("registering everything twice is an error") {
  testing::ServicesFixture fixture;
  const tools::Services services = fixture.tool_services();
  mcp::Server server({.name = "assay", .title = "Assay", .version = "0", .instructions = ""});
  REQUIRE(register_all(server, services, kGuides));
  CHECK_FALSE(register_all(server, services, kGuides));
}

}  // namespace assay::server
