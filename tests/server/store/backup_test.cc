#include "server/store/backup.h"

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "base/handle.h"
#include "server/store/check.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

std::string accept_job(Store& store) {
  sandbox::Job job;
  job.id = new_handle("job");
  job.source = "x = 1";
  REQUIRE(store.accept(job, "cpu", {}, 1)->accepted());
  return job.id;
}

}  // namespace

TEST_CASE("store backup: the copy has what the store had, and only its owner can read it") {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "assay.db";
  const fs::path copy = folder.path() / "copy.db";
  std::string job;
  {
    const auto store = Store::open(path, StoreMode::read_write);  // it is in use during the backup
    REQUIRE(store);
    job = accept_job(**store);
    const auto bytes = backup_store(path, copy);
    REQUIRE(bytes);
    CHECK(*bytes == static_cast<std::int64_t>(fs::file_size(copy)));
    accept_job(**store);  // after the backup
  }
  CHECK(fs::status(copy).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const auto check = check_store(copy);
  REQUIRE(check);
  CHECK(check->problems.empty());
  CHECK(check->jobs == 1);
  const auto restored = Store::open(copy, StoreMode::read_write);
  REQUIRE(restored);
  CHECK((*restored)->source(job) == "x = 1");
}

TEST_CASE("store backup: a copy made beside a writer is whole") {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "assay.db";
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    while (!stop) {
      accept_job(**store);
      ++written;
    }
  });
  for (int i = 0; i < 3; ++i) {
    const int before = written;
    const fs::path copy = folder.path() / ("copy" + std::to_string(i));
    const auto copied = backup_store(path, copy);
    const int after = written;
    CHECK(copied);
    const auto check = check_store(copy);
    CHECK((check && check->problems.empty() && check->jobs >= before && check->jobs <= after + 1));
  }
  stop = true;
  writer.join();
}

TEST_CASE("store backup: an existing file stays, and a failure leaves no file") {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "assay.db";
  REQUIRE(Store::open(path, StoreMode::read_write));
  CHECK(backup_store(path, path).error().code == ErrorCode::invalid_argument);
  const auto gone = backup_store(path, folder.path() / "none" / "copy.db");
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::io);
  const fs::path copy = folder.path() / "copy.db";
  CHECK(backup_store(folder.path() / "none.db", copy).error().code == ErrorCode::not_found);
  CHECK_FALSE(fs::exists(copy));
  CHECK_FALSE(fs::exists(copy.string() + ".part"));
}

}  // namespace assay::server
