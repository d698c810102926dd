// Defines a store whose statements can be made to fail.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <string>

#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/server/store/stored_job.h"
#include "tests/tools/fixture.h"

namespace assay::server::stored {

/// A store with one run. A trigger can make the store's statements fail.
class FailingStore {
 public:
  FailingStore() { REQUIRE(store->insert_run(run, "")); }

  /// Makes all later statements of this kind fail. `statement` has the form "INSERT ON verdicts".
  void fail_at(const std::string& statement) {
    other.exec("CREATE TRIGGER injected BEFORE " + statement +
               " BEGIN SELECT RAISE(ABORT, 'injected failure'); END");
  }
  void work_again() { other.exec("DROP TRIGGER injected"); }
  int count(const std::string& table) {
    return other.execAndGet("SELECT count(*) FROM " + table).getInt();
  }
  sandbox::Job job() const {
    sandbox::Job job = job_of();
    job.run = run.handle;
    return job;
  }

  const testing::TemporaryFolder folder;
  const tools::RunInfo run = run_of();
  const std::unique_ptr<Store> store =
      std::move(*Store::open(folder.path() / "assay.db", StoreMode::read_write));

 private:
  SQLite::Database other{(folder.path() / "assay.db").string(), SQLite::OPEN_READWRITE, 5'000};
};

}  // namespace assay::server::stored
