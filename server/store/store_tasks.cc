// Implements the functions of Store that save and read tasks of the MCP protocol. Tasks are stored,
// so that a client can ask for the status of a task even after a restart of the server.
#include <cstdint>

#include "base/json.h"
#include "server/store/connection.h"
#include "server/store/store.h"

namespace assay::server {

using nlohmann::json;

Status Store::save_task(const mcp::TaskRecord& task) {
  const std::string outcome = task.outcome.dump(-1, ' ', false, json::error_handler_t::replace);
  return connection_->write_durably([&](SQLite::Database& db) -> Status {
    SQLite::Statement over(db, "DELETE FROM tasks WHERE ends_unix_ms < ?");
    bind_all(over, task.updated_unix_ms);
    over.exec();
    SQLite::Statement save(db, "INSERT OR REPLACE INTO tasks VALUES (?,?,?,?,?,?,?,?)");
    bind_all(save, task.id, task.principal, std::string(to_string(task.status)), task.message,
             outcome, task.created_unix_ms, task.updated_unix_ms,
             task.created_unix_ms + task.ttl_ms);
    save.exec();
    return {};
  });
}

Result<std::optional<mcp::TaskRecord>> Store::task(const std::string& id) {
  return connection_->with([&](SQLite::Database& db) -> Result<std::optional<mcp::TaskRecord>> {
    SQLite::Statement query(db,
                            "SELECT principal, status, message, outcome, created_unix_ms, "
                            "updated_unix_ms, ends_unix_ms FROM tasks WHERE task = ?");
    bind_all(query, id);
    if (!query.executeStep()) return std::nullopt;
    mcp::TaskRecord record;
    record.id = id;
    record.principal = query.getColumn(0).getString();
    const auto status = mcp::task_status_from(query.getColumn(1).getString());
    record.message = query.getColumn(2).getString();
    record.outcome =
        json::parse(query.getColumn(3).getString(), nullptr, /*allow_exceptions=*/false);
    record.created_unix_ms = query.getColumn(4).getInt64();
    record.updated_unix_ms = query.getColumn(5).getInt64();
    record.ttl_ms = query.getColumn(6).getInt64() - record.created_unix_ms;
    if (!status || record.outcome.is_discarded())
      return fail(ErrorCode::corrupt, "the row of task " + id + " cannot be read");
    record.status = *status;
    return record;
  });
}

}  // namespace assay::server
