#include "sandbox/timing/compiled_times.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace assay::sandbox;
namespace fs = std::filesystem;

namespace {

const std::string kState = std::string(ASSAY_BINARY_DIR) + "/test-compiled-times";

std::string fresh_path() {
  fs::remove_all(kState);
  return compiled_times_path(kState, "NVIDIA H200 / 1", "relu", std::string(64, 'a'));
}

CompiledTimes times() {
  return {.torch = "2.11.0",
          .cases = {{"large", 51'200.5, ""}, {"ragged", {}, "Unsupported: no such operation"}}};
}

Verdict timed_verdict() {
  Verdict verdict;
  verdict.operator_name = "relu";
  verdict.provenance.device_name = "NVIDIA H200 / 1";
  verdict.provenance.operator_revision = std::string(64, 'a');
  verdict.provenance.torch = "2.11.0";
  for (const char* id : {"large", "ragged", "other", "untimed"}) {
    CaseRecord record;
    record.id = id;
    if (record.id != "untimed") {
      record.latency.emplace();
      record.latency->median_ns = 100;
      record.latency->overhead_ns = 2'000;
    }
    verdict.cases.push_back(record);
  }
  verdict.cases[3].id = "large";
  return verdict;
}

}  // namespace

TEST_CASE("the times of torch.compile come back from their file") {
  const std::string path = fresh_path();
  CHECK(fs::path(path).filename() == "relu-" + std::string(16, 'a'));
  CHECK(fs::path(path).parent_path().filename() == "NVIDIA-H200---1");
  CHECK_FALSE(read_compiled_times(path));
  REQUIRE(write_compiled_times(path, times()));
  const std::optional<CompiledTimes> read = read_compiled_times(path);
  REQUIRE(read);
  CHECK(read->torch == "2.11.0");
  CHECK(read->cases == times().cases);
  REQUIRE(write_compiled_times(path, {.torch = "2.12.0", .cases = {}}));
  CHECK(read_compiled_times(path)->cases.empty());
  CHECK(std::distance(fs::directory_iterator(fs::path(path).parent_path()), {}) == 1);
}

TEST_CASE("a file that is damaged counts as no file") {
  const std::string path = fresh_path();
  REQUIRE(write_compiled_times(path, times()));
  std::ofstream(path, std::ios::app) << "ns more\n";
  CHECK_FALSE(read_compiled_times(path));
  std::ofstream(path) << "ns large 12\n";  // the version is missing
  CHECK_FALSE(read_compiled_times(path));
  CHECK_FALSE(write_compiled_times("/proc/no/such/folder/file", times()));
}

TEST_CASE("cases that have a latency get the time or the reason") {
  REQUIRE(write_compiled_times(fresh_path(), times()));
  Verdict verdict = timed_verdict();
  add_compiled_times(verdict, kState);
  CHECK(verdict.cases[0].torch_compile_ns == 49'200.5);  // without the overhead of the marks
  CHECK(verdict.cases[0].torch_compile_unsupported.empty());
  CHECK_FALSE(verdict.cases[1].torch_compile_ns);
  CHECK(verdict.cases[1].torch_compile_unsupported == "Unsupported: no such operation");
  CHECK_FALSE(verdict.cases[2].torch_compile_ns);
  CHECK_FALSE(verdict.cases[3].torch_compile_ns);
}

TEST_CASE("times of another device, revision or version of PyTorch are not shown") {
  REQUIRE(write_compiled_times(fresh_path(), times()));
  const auto is_shown = [](const std::function<void(Verdict&)>& change) {
    Verdict verdict = timed_verdict();
    change(verdict);
    add_compiled_times(verdict, kState);
    return verdict.cases[0].torch_compile_ns.has_value();
  };
  CHECK(is_shown([](Verdict&) {}));
  CHECK_FALSE(is_shown([](Verdict& v) { v.provenance.device_name = "NVIDIA H100"; }));
  CHECK_FALSE(is_shown([](Verdict& v) { v.provenance.operator_revision = std::string(64, 'b'); }));
  CHECK_FALSE(is_shown([](Verdict& v) { v.provenance.torch = "2.12.0"; }));
  CHECK_FALSE(is_shown([](Verdict& v) { v.operator_name = "gelu"; }));
}
