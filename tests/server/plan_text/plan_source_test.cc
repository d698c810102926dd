#include "server/plan_text/plan_source.h"

#include <unistd.h>

#include <fstream>

#include "server/app/exit_status.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("assay-plans-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
  fs::path path;
};

}  // namespace

TEST_CASE("a plan comes back from its file") {
  const Folder folder;
  const sandbox::Plan plan = sandbox::test::rich_plan();
  const auto stored = read_plan(folder.file("a.plan", encode_plan(plan)), "no.db");
  REQUIRE(stored);
  CHECK(stored->plan == plan);
  CHECK(stored->bytes == encode_plan(plan));
}

TEST_CASE("what is no plan is refused with the place and a status of its own") {
  const Folder folder;
  const std::string whole = encode_plan(sandbox::test::rich_plan());
  const auto refused = [&](const std::string& where) {
    const auto stored = read_plan(where, folder.path / "no.db");
    REQUIRE_FALSE(stored);
    return std::pair(stored.error().message, status_of_plan_error(stored.error()));
  };
  const auto cut = refused(folder.file("cut.plan", whole.substr(0, whole.size() / 2)));
  CHECK(cut.first.find("at byte ") != std::string::npos);
  CHECK(cut.second == kBadData);
  const auto other = refused(folder.file("other.plan", "{}"));
  CHECK(other.first.find("at byte 0") != std::string::npos);
  CHECK(other.second == kBadData);
  CHECK(refused((folder.path / "none.plan").string()).second == kNoInput);
  CHECK(refused("artifact_0123456789abcdefghjkmnpqrs").first.find("no store") != std::string::npos);
}
