// Tests which files can be opened as a store: new files, files of a newer version, other SQLite
// files, damaged files, files without write permission, and files in use.
#include "server/store/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "server/store/schema.h"
#include "tests/catch.h"
#include "tests/server/store/stored_job.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using stored::run_of;
using testing::TemporaryFolder;
using testing::write_file;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Error refused(const std::filesystem::path& path, StoreMode mode = StoreMode::read_write) {
  const auto store = Store::open(path, mode);
  REQUIRE_FALSE(store);
  return store.error();
}

}  // namespace

TEST_CASE("a new store is made, with its folders, and opens again") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "deep" / "er" / "assay.db";
  const tools::RunInfo run = run_of();
  {
    const auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    REQUIRE((*store)->insert_run(run, ""));
  }
  SQLite::Database raw(path.string(), SQLite::OPEN_READONLY);
  CHECK(raw.execAndGet("PRAGMA user_version").getInt() == kSchemaVersion);
  CHECK(raw.execAndGet("PRAGMA journal_mode").getString() == "wal");
  const auto again = Store::open(path, StoreMode::read_write);
  REQUIRE(again);
  const auto found = (*again)->run(run.handle, "");
  REQUIRE(found);
  CHECK(found->operators == run.operators);
  CHECK(found->budgets.run_wall_s == 5);
  CHECK(found->request.track == tools::Track::iterative);
  CHECK((*again)->run("run_none", "").error().code == ErrorCode::not_found);
  CHECK((*again)->runs()->size() == 1);
}

TEST_CASE("a store of a newer schema is refused and not changed") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "newer.db";
  {
    SQLite::Database raw(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    raw.exec("PRAGMA user_version = 999; CREATE TABLE kept (x)");
  }
  const std::string before = bytes_of(path);
  for (const StoreMode mode : {StoreMode::read_write, StoreMode::read_only}) {
    const Error error = refused(path, mode);
    CHECK(error.code == ErrorCode::unavailable);
    CHECK(error.message.find("999") != std::string::npos);
  }
  CHECK(bytes_of(path) == before);
}

TEST_CASE("a file that is not a store is refused and not changed") {
  const TemporaryFolder folder;
  const auto text = folder.path() / "text.db";
  write_file(text, std::string(4'000, 'x'));
  CHECK(refused(text).code == ErrorCode::corrupt);
  CHECK(refused(text).message.find("text.db") != std::string::npos);
  CHECK(bytes_of(text) == std::string(4'000, 'x'));

  const auto foreign = folder.path() / "foreign.db";
  {
    SQLite::Database raw(foreign.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    raw.exec("CREATE TABLE t (x)");
  }
  const std::string before = bytes_of(foreign);
  CHECK(refused(foreign).code == ErrorCode::corrupt);
  CHECK(bytes_of(foreign) == before);
  CHECK(refused(folder.path()).code == ErrorCode::unavailable);
}

TEST_CASE("a damaged store is refused") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  REQUIRE(Store::open(path, StoreMode::read_write));
  std::string bytes = bytes_of(path);
  REQUIRE(bytes.size() > 8192);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(path, bytes);
  const Error error = refused(path);
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message.find("assay.db") != std::string::npos);
  CHECK(bytes_of(path) == bytes);
}

TEST_CASE("a store that cannot be written is refused") {
  CHECK(refused("/proc/assay.db").code == ErrorCode::unavailable);
  CHECK(refused("/proc/assay.db").message.find("/proc/assay.db") != std::string::npos);

  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  REQUIRE(Store::open(path, StoreMode::read_write));
  // The user root may write to any file, so the test opens the store as the user nobody.
  ::chmod(folder.path().c_str(), 0777);
  ::chmod((path.string() + ".lock").c_str(), 0666);
  ::chmod(path.c_str(), 0444);
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  const auto store = Store::open(path, StoreMode::read_write);
  if (root) REQUIRE(::seteuid(0) == 0);
  REQUIRE_FALSE(store);
  CHECK(store.error().code == ErrorCode::unavailable);
  CHECK(store.error().message.find("write") != std::string::npos);
}

TEST_CASE("a second writer is refused while the first is open; a reader is not") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  {
    const auto first = Store::open(path, StoreMode::read_write);
    REQUIRE(first);
    const Error error = refused(path);
    CHECK(error.code == ErrorCode::unavailable);
    CHECK(error.message.find("in use") != std::string::npos);
    const auto reader = Store::open(path, StoreMode::read_only);
    REQUIRE(reader);
    CHECK((*reader)->insert_run(run_of(), "").error().code == ErrorCode::unavailable);
  }
  CHECK(Store::open(path, StoreMode::read_write));
  CHECK(refused(folder.path() / "none.db", StoreMode::read_only).code == ErrorCode::not_found);
}

TEST_CASE("only its owner can access a store, and an older, wider one is narrowed") {
  const auto mode_of = [](const std::filesystem::path& path) {
    return std::filesystem::status(path).permissions();
  };
  using std::filesystem::perms;
  const mode_t old_mask = ::umask(022);
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "state" / "assay.db";
  {
    const auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    CHECK(mode_of(path.parent_path()) == perms::owner_all);
    for (const char* suffix : {"", "-wal", "-shm", ".lock"})
      CHECK(mode_of(path.string() + suffix) == (perms::owner_read | perms::owner_write));
  }
  std::filesystem::permissions(path, perms::group_read | perms::others_read,
                               std::filesystem::perm_options::add);
  REQUIRE(Store::open(path, StoreMode::read_only));
  CHECK((mode_of(path) & perms::others_read) != perms::none);  // a reader changes nothing
  REQUIRE(Store::open(path, StoreMode::read_write));
  CHECK(mode_of(path) == (perms::owner_read | perms::owner_write));
  ::umask(old_mask);
}

}  // namespace assay::server
