#include "base/json.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using testing::TemporaryFolder;

mcp::TaskRecord record(const std::string& id, std::int64_t created_unix_ms, std::int64_t ttl_ms) {
  mcp::TaskRecord out;
  out.id = id;
  out.principal = "alice";
  out.message = "stage compile";
  out.created_unix_ms = out.updated_unix_ms = created_unix_ms;
  out.ttl_ms = ttl_ms;
  return out;
}

}  // namespace

TEST_CASE("store: a task keeps its last state when the store is opened again") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  mcp::TaskRecord task = record("task_a", 1'000, 500);
  {
    const auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    REQUIRE((*store)->save_task(task));
    task.status = mcp::TaskStatus::completed;
    task.outcome = {{"content", {{{"type", "text"}, {"text", "line\n\xff"}}}}};
    REQUIRE((*store)->save_task(task));
  }
  const auto store = Store::open(path, StoreMode::read_only);
  REQUIRE(store);
  const auto found = (*store)->task("task_a");
  REQUIRE(found);
  REQUIRE(*found);
  CHECK((*found)->status == mcp::TaskStatus::completed);
  CHECK((*found)->principal == "alice");
  CHECK((*found)->ttl_ms == 500);
  CHECK((*found)->message == "stage compile");
  CHECK((*found)->outcome["content"][0]["text"] == "line\n\xef\xbf\xbd");
  CHECK_FALSE(*(*store)->task("task_b"));
  CHECK_FALSE((*store)->save_task(task));  // the store is read-only
}

TEST_CASE("store: saving a task deletes expired tasks") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  REQUIRE((*store)->save_task(record("task_old", 1'000, 500)));
  REQUIRE((*store)->save_task(record("task_new", 1'400, 500)));
  CHECK(*(*store)->task("task_old"));
  REQUIRE((*store)->save_task(record("task_newer", 1'600, 500)));
  CHECK_FALSE(*(*store)->task("task_old"));
  CHECK(*(*store)->task("task_new"));
}

}  // namespace assay::server
