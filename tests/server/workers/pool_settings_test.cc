#include "server/workers/pool_settings.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/handle.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

std::string error_of(const std::string& text) {
  const Result<std::vector<PoolSettings>> pools = parse_pools(text);
  REQUIRE_FALSE(pools);
  return pools.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("pools are read in their order, with defaults") {
  const auto pools = parse_pools(R"(
[[pool]]
name = "h200"
command = "srun --gres=gpu:1 assay worker --device cuda:0"
device = "cuda:0"
least = 0
most = 64

[[pool]]
name = "near"
command = "assay worker --device cpu"
least = 2
)");
  REQUIRE(pools);
  REQUIRE(pools->size() == 2);
  CHECK((*pools)[0].most == 64);
  CHECK((*pools)[0].least == 0);
  CHECK((*pools)[0].health_check_s == PoolSettings{}.health_check_s);
  CHECK((*pools)[1].device.empty());
  CHECK((*pools)[1].most == 2);  // at least `least`
}

TEST_CASE("a bad file of workers names the field and the valid values") {
  CHECK(has(error_of("name = 1"), "[[pool]]"));
  CHECK(has(error_of("[[pool]"), "line 1"));
  CHECK(has(error_of("[[pool]]\nname = \"a b\"\ncommand = \"x\"\n"), "a-z, 0-9"));
  CHECK(has(error_of("[[pool]]\nname = 7\n"), "`name` is no string"));
  CHECK(has(error_of("[[pool]]\nname = \"a\"\ncommand = \"x\"\nmost = \"x\"\n"), "no integer"));
  CHECK(has(error_of("[[pool]]\nname = \"a\"\ncommand = \"x\"\nleast = 3\nmost = 2\n"),
            "`least` is above `most`"));
  const std::string one = "[[pool]]\nname = \"a\"\ncommand = \"x\"\n";
  CHECK(has(error_of(one + one), "two pools"));
  CHECK(read_pools("/no/such/file").error().code == ErrorCode::not_found);
}

TEST_CASE("a file of workers is a regular file of a limited size") {
  const fs::path folder = fs::temp_directory_path() / new_handle("pools");
  fs::create_directories(folder);
  const std::string file = (folder / "workers.toml").string();
  CHECK(read_pools(folder.string()).error().code == ErrorCode::not_found);
  const std::string pool = "\n[[pool]]\nname = \"a\"\ncommand = \"x\"\n";
  const std::string comment(static_cast<std::size_t>(kMaxPoolsFileBytes) - pool.size(), '#');
  std::ofstream(file) << comment << pool;
  CHECK(read_pools(file));
  std::ofstream(file) << '#' << comment << pool;
  CHECK(read_pools(file).error().code == ErrorCode::corrupt);
  std::ofstream(file, std::ios::trunc).close();
  CHECK(has(read_pools(file).error().message, "[[pool]]"));
  fs::remove_all(folder);
}

TEST_CASE("a pool that launches names one that records, or takes the only one") {
  const std::string cpus = "[[pool]]\nname = \"cpus\"\ncommand = \"x\"\nrole = \"record\"\n";
  const std::string gpus = "[[pool]]\nname = \"gpus\"\ncommand = \"x\"\nrole = \"launch\"\n";
  const std::string more = "[[pool]]\nname = \"more\"\ncommand = \"x\"\nrole = \"record\"\n";
  const auto pools = parse_pools(gpus + cpus);
  REQUIRE(pools);
  CHECK((*pools)[0].records == "cpus");
  CHECK(has(error_of(gpus), "no pool has role record"));
  CHECK(has(error_of(cpus), "no pool with role launch uses it"));
  CHECK(has(error_of(gpus + cpus + more), "one of the pools with role record: cpus, more"));
  CHECK(has(error_of(gpus + "records = \"far\"\n" + cpus), "`records` is 'far'; valid: cpus"));
  CHECK(has(error_of(cpus + "device = \"cpu\"\n" + gpus), "remove `device`"));
  CHECK(has(error_of(cpus + "records = \"cpus\"\n" + gpus), "only for a pool with role launch"));
  CHECK(has(error_of("[[pool]]\nname = \"a\"\ncommand = \"x\"\nrole = \"both\"\n"),
            "valid: all, record, launch"));
}
