// StoredTasks keeps the protocol's tasks in the store.
//
//   StoredTasks tasks(services->store());
//   mcp::Server server(info, {}, {.task_store = &tasks});
//
// The store must outlive it. Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "server/mcp/core/task.h"
#include "server/store/store.h"

namespace assay::server {

class StoredTasks final : public mcp::TaskStore {
 public:
  explicit StoredTasks(Store& store) : store_(store) {}
  Status save(const mcp::TaskRecord& record) override { return store_.save_task(record); }
  Result<std::optional<mcp::TaskRecord>> load(const std::string& id) override {
    return store_.task(id);
  }

 private:
  Store& store_;
};

}  // namespace assay::server
