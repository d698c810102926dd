#include "sandbox/record/recording_folder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sandbox/pool/candidate_pool.h"
#include "sandbox/record/recording_cache.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay::sandbox;
namespace fs = std::filesystem;

namespace {

const PoolFacts kFacts{{"2.13.0", "3.7.1", "3.11.7", "", {}}, {{"root_filesystem", true, ""}}};
constexpr std::int64_t kMostBytes = 1 << 20;

/// Returns a configuration with its own empty state folder and a harness of one file.
SandboxConfig config_of(const std::string& name) {
  SandboxConfig config;
  const fs::path folder = fs::path(ASSAY_BINARY_DIR) / "test-recordings" / name;
  fs::remove_all(folder);
  config.state_dir = (folder / "state").string();
  config.harness_dir = (folder / "harness").string();
  fs::create_directories(folder / "harness/__pycache__");
  std::ofstream(folder / "harness/record.py") << "x = 1\n";
  return config;
}

CaseDone recording(const std::string& plan) {
  CaseDone done;
  done.id = "small";
  done.plan = plan;
  KernelReport kernel;
  kernel.name = "add";
  kernel.target = "cuda:90";
  kernel.num_warps = 4;
  kernel.registers = 32;
  kernel.grid = {8, 1, 1};
  kernel.launches = 2;
  done.kernels = {kernel};
  return done;
}

std::vector<fs::path> files_of(const RecordingFolder& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path())) files.push_back(entry.path());
  return files;
}

}  // namespace

TEST_CASE("a recording is found after a restart, with the same software only") {
  const SandboxConfig config = config_of("restart");
  const std::string plan("plan\n\0bytes", 11);
  RecordingFolder(config, kMostBytes).put("key", kFacts, recording(plan));
  const std::optional<CaseDone> found = RecordingFolder(config, kMostBytes).find("key", kFacts);
  REQUIRE(found);
  CHECK(found->plan == plan);
  CHECK(found->id == "small");
  REQUIRE(found->kernels.size() == 1);
  CHECK(found->kernels[0].name == "add");
  CHECK(found->kernels[0].registers == 32);
  CHECK(found->kernels[0].grid == std::vector<std::int64_t>{8, 1, 1});
  CHECK(found->kernels[0].launches == 2);

  CHECK_FALSE(RecordingFolder(config, kMostBytes).find("other", kFacts));
  for (std::string Versions::*changed :
       {&Versions::torch, &Versions::triton, &Versions::python, &Versions::nvrtc}) {
    PoolFacts facts = kFacts;
    facts.versions.*changed = "9";
    CHECK_FALSE(RecordingFolder(config, kMostBytes).find("key", facts));
  }
  for (std::string SandboxConfig::*changed :
       {&SandboxConfig::python, &SandboxConfig::cuda_toolkit, &SandboxConfig::cuda_home}) {
    SandboxConfig other = config;
    other.*changed = "/elsewhere";
    CHECK_FALSE(RecordingFolder(other, kMostBytes).find("key", kFacts));
  }
  std::ofstream(fs::path(config.harness_dir) / "__pycache__/record.pyc") << "compiled";
  CHECK(RecordingFolder(config, kMostBytes).find("key", kFacts));
  std::ofstream(fs::path(config.harness_dir) / "record.py") << "x = 2\n";
  CHECK_FALSE(RecordingFolder(config, kMostBytes).find("key", kFacts));
}

TEST_CASE("a file that is damaged, or that others could have written, is not used") {
  const SandboxConfig config = config_of("damaged");
  RecordingFolder folder(config, kMostBytes);
  const auto keep = [&] {
    fs::remove_all(folder.path());
    folder.put("key", kFacts, recording("plan"));
    REQUIRE(folder.find("key", kFacts));
    REQUIRE(files_of(folder).size() == 1);
    return files_of(folder)[0];
  };
  const auto perms = fs::status(keep()).permissions();
  CHECK((perms & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  CHECK((fs::status(folder.path()).permissions() &
         (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);

  fs::path file = keep();
  fs::resize_file(file, fs::file_size(file) - 1);
  CHECK_FALSE(folder.find("key", kFacts));
  file = keep();
  const std::string text = testing::read_text(file);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(file) << changed;
    INFO("byte " << at);
    CHECK_FALSE(folder.find("key", kFacts));
  }
  file = keep();
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(folder.find("key", kFacts));
  file = keep();
  fs::rename(file, file.string() + ".elsewhere");
  fs::create_symlink(file.string() + ".elsewhere", file);
  CHECK_FALSE(folder.find("key", kFacts));
}

TEST_CASE("nothing is kept if the files of the harness have changed since the start") {
  const SandboxConfig config = config_of("changed");
  RecordingFolder folder(config, kMostBytes);
  const fs::path file = fs::path(config.harness_dir) / "record.py";
  std::ofstream(file) << "x = 2\n";
  folder.put("key", kFacts, recording("plan"));
  CHECK_FALSE(fs::exists(folder.path()));
  std::ofstream(file) << "x = 1\n";
  folder.put("key", kFacts, recording("plan"));
  CHECK(folder.find("key", kFacts));
}

TEST_CASE("the folder is not used if the jail shows it") {
  const SandboxConfig config = config_of("shown");
  RecordingFolder folder(config, kMostBytes);
  folder.put("key", kFacts, recording("plan"));
  for (const std::vector<LayerReport>& layers :
       {std::vector<LayerReport>{}, {{"root_filesystem", false, "no namespaces"}}}) {
    const PoolFacts facts{kFacts.versions, layers};
    CHECK_FALSE(folder.find("key", facts));
    folder.put("other", facts, recording("plan"));
  }
  CHECK(files_of(folder).size() == 1);
}

TEST_CASE("a full folder loses the recordings that were written first") {
  const SandboxConfig config = config_of("full");
  RecordingFolder folder(config, 100'000);
  for (int i = 0; i < 9; ++i) {
    folder.put(std::to_string(i), kFacts, recording(std::string(10'000, 'p')));
    for (const fs::path& file : files_of(folder))  // make the files older than those to come
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::seconds(1));
  }
  CHECK(files_of(folder).size() == 9);
  folder.put("9", kFacts, recording(std::string(10'000, 'p')));
  CHECK(files_of(folder).size() == 7);
  CHECK_FALSE(folder.find("2", kFacts));
  CHECK(folder.find("3", kFacts));
  CHECK(folder.find("9", kFacts));
}

TEST_CASE("a recording that cannot be written is only not kept") {
  SandboxConfig config = config_of("unwritable");
  std::ofstream(config.state_dir) << "a file in place of the folder";
  RecordingFolder folder(config, kMostBytes);
  folder.put("key", kFacts, recording("plan"));
  CHECK_FALSE(folder.find("key", kFacts));
}

TEST_CASE("a server that starts again does not compile an oracle again") {
  SandboxConfig config = testing::real_config();
  config.state_dir = config_of("oracle").state_dir;
  fs::create_directories(config.state_dir);
  Spawner spawner;
  CandidatePool pool(config, spawner);
  const Job job = testing::vector_add(JobKind::grade, "");
  const std::string oracle = testing::read_text(fs::path(job.operator_dir) / "oracle.py"),
                    target = "cuda:90";
  PreparedJob prepared;
  PreparedCase one;
  one.id = "small";
  for (const char* name : {"x", "y"}) {
    Argument argument;
    argument.name = name;
    argument.dtype = "float32";
    argument.shape = {4097};
    argument.strides = {1};
    one.arguments.push_back(argument);
  }
  one.outputs = {{.name = "z", .dtype = "float32", .from = "", .shape = {4097}, .nbytes = 16'388}};
  prepared.cases = {one};
  std::vector<CaseDone> recorded;
  for (const bool again : {false, true}) {
    RecordingFolder folder(config, kMostBytes);
    RecordingCache cache(kMostBytes, &folder);
    JobMonitor monitor;
    JobExecution run(job, monitor);
    auto results = cache.record(run, pool, {prepared, {0}, target, oracle});
    INFO(run.verdict().detail);
    REQUIRE(results);
    CHECK((run.verdict().stage_ms.count("import") == 0) == again);
    recorded.push_back(results->cases[0]);
  }
  CHECK(recorded[0].plan == recorded[1].plan);
  CHECK_FALSE(recorded[0].kernels.empty());
  CHECK(recorded[0].kernels.size() == recorded[1].kernels.size());
}
