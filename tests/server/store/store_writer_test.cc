#include "server/store/store_writer.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

using namespace assay::server;

TEST_CASE("a store in use names the process that uses it, and since when") {
  const assay::testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "assay.db";
  CHECK_FALSE(other_writer(path));
  {
    const auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    const auto writer = other_writer(path);
    REQUIRE(writer);
    CHECK(writer->pid == ::getpid());
    CHECK(writer->since_unix_ms > 1'600'000'000'000);
    const auto second = Store::open(path, StoreMode::read_write);
    REQUIRE_FALSE(second);
    CHECK(second.error().message.find("is in use by another Assay (process " +
                                      std::to_string(::getpid()) + ", since 2") !=
          std::string::npos);
  }
  CHECK_FALSE(other_writer(path));
}

TEST_CASE("a lock file without a process, or with other text, names no process") {
  for (const char* text : {"", "\n", "soon", "-4 5", "99999999999999999999 1"}) {
    CHECK(writer_from(text).pid == 0);
    CHECK(to_string(writer_from(text)) == "another Assay");
  }
  CHECK(to_string(writer_from("12\n")) == "process 12");
  const StoreWriter writer{.pid = 12, .since_unix_ms = 1'764'316'800'123};
  CHECK(writer_from(writer_text(writer)).since_unix_ms == writer.since_unix_ms);
  CHECK(to_string(writer) == "process 12, since 2025-11-28T08:00:00.123Z");
}
