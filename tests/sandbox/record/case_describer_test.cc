#include "sandbox/record/case_describer.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sandbox/wire/memfd.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::own_operator;
using testing::real_config;
using testing::vector_add;

std::string count_calls(const std::string& file) { return "open('" + file + "', 'a').write('x')"; }

/// Returns a job with two public cases, for an operator that has a structural argument.
Job attention_job() {
  Job job = vector_add(JobKind::test, "");
  job.operator_name = job.entry = "varlen_attn";
  job.operator_dir = std::string(ASSAY_SOURCE_DIR) + "/operators/standard/varlen_attn";
  const auto case_of = [](const std::string& id, std::int64_t total) {
    CaseRequest one;
    one.id = id;
    one.dtype = "float16";
    one.distribution = "normal";
    one.axes = {
        {"total", total}, {"offset_count", 7}, {"max_seqlen", 80}, {"heads", 2}, {"head_dim", 64}};
    return one;
  };
  job.cases = {case_of("one", 150), case_of("two", 170)};
  return job;
}

/// Returns the bytes of the structural arguments of all cases, or only of the case `only`.
std::vector<std::string> values_in(const PreparedJob& prepared, int only = -1) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < prepared.cases.size(); ++i) {
    const PreparedCase& one = prepared.cases[i];
    if (only >= 0 && i != static_cast<std::size_t>(only)) continue;
    for (const Argument& argument : one.arguments) {
      if (!argument.fd || argument.name != one.structural.at(0)) continue;
      const int fd = prepared.fds.at(static_cast<std::size_t>(*argument.fd)).get();
      const Result<std::uint64_t> size = check_foreign_memfd(fd);
      REQUIRE(size);
      REQUIRE(argument.offset + argument.nbytes <= static_cast<std::int64_t>(*size));
      const Result<Mapping> memory = Mapping::map(fd, *size, false);
      REQUIRE(memory);
      found.emplace_back(reinterpret_cast<const char*>(memory->data()) + argument.offset,
                         static_cast<std::size_t>(argument.nbytes));
    }
  }
  return found;
}

std::uintmax_t calls(const std::string& file) { return fs::exists(file) ? fs::file_size(file) : 0; }

}  // namespace

TEST_CASE("a judge describes each case of an operator once, and says the same as of inputs") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  CaseDescriber describer(judge);
  const Deadline deadline = Deadline::after_ms(60'000);
  const std::string file = real_config().state_dir + "/described_calls";
  fs::remove(file);
  const Job job = own_operator("described_once", count_calls(file));
  for (int i = 0; i < 2; ++i) {
    const Result<PreparedJob> described = describer.describe(job, deadline);
    if (!described) FAIL(described.error().message);
    REQUIRE(described->cases.size() == job.cases.size());
    CHECK(described->cases[0].fixed);
    CHECK_FALSE(described->device);
    CHECK(described->cases[0].arguments.at(0).dtype == "float32");
    CHECK(calls(file) == job.cases.size());
  }
  const Result<PreparedJob> described = describer.describe(job, deadline);
  const Result<PreparedJob> prepared = judge.prepare(job, deadline);
  REQUIRE(described);
  const auto without = describer.describe_without_inputs(job, deadline);
  REQUIRE(without);
  CHECK(*without);
  if (!prepared) FAIL(prepared.error().message);
  for (std::size_t i = 0; i < job.cases.size(); ++i)
    CHECK(is_as_described(described->cases[i], prepared->cases[i]));
  PreparedCase other = prepared->cases[0];
  other.arguments[0].strides[0] = 2;
  CHECK_FALSE(is_as_described(described->cases[0], other));
  judge.release(job.id);
}

TEST_CASE("a changed operator is described anew") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  CaseDescriber describer(judge);
  const std::string file = real_config().state_dir + "/changed_calls";
  fs::remove(file);
  const Job job = own_operator("described_changed", count_calls(file));
  REQUIRE(describer.describe(job, Deadline::after_ms(60'000)));
  const std::uintmax_t once = calls(file);
  std::ofstream(fs::path(job.operator_dir) / "reference.py", std::ios::app) << "# changed\n";
  REQUIRE(describer.describe(job, Deadline::after_ms(60'000)));
  CHECK(calls(file) == 2 * once);
}

TEST_CASE("a description that depends on values holds for some jobs, then a new seed is used") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  CaseDescriber describer(judge);
  const std::string file = real_config().state_dir + "/value_calls";
  fs::remove(file);
  const Job job =
      own_operator("described_by_value", count_calls(file) + "; float(rng.normal((1,)).sum())");
  const auto describe = [&] {
    Result<PreparedJob> described = describer.describe(job, Deadline::after_ms(60'000));
    if (!described) FAIL(described.error().message);
    CHECK_FALSE(described->cases[0].fixed);
    return described->cases[0].seed;
  };
  const std::string first = describe();
  const std::uintmax_t once = calls(file);
  CHECK(once > 0);
  for (int i = 0; i < CaseDescriber::kJobsPerSeed; ++i) CHECK(describe() == first);
  CHECK(calls(file) == once);
  CHECK(describe() != first);
  CHECK(calls(file) > once);
  const auto without = describer.describe_without_inputs(job, Deadline::after_ms(60'000));
  if (!without) FAIL(without.error().message);
  CHECK_FALSE(*without);
}

TEST_CASE("a kept description has the values of its structural arguments") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  CaseDescriber describer(judge);
  Job job = attention_job();
  const auto values = [&] {
    const Result<PreparedJob> described = describer.describe(job, Deadline::after_ms(60'000));
    if (!described) FAIL(described.error().message);
    return values_in(*described);
  };
  const std::vector<std::string> first = values();
  REQUIRE(first.size() == 2);
  CHECK(first[0] != first[1]);
  CHECK(values() == first);
  std::reverse(job.cases.begin(), job.cases.end());
  CHECK(values() == std::vector{first[1], first[0]});
}

TEST_CASE("values of a job are learned for its public cases, and only of structural arguments") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  CaseDescriber describer(judge);
  Job job = attention_job();
  job.cases[1].hidden = true;
  const Result<PreparedJob> prepared = judge.prepare(job, Deadline::after_ms(60'000));
  if (!prepared) FAIL(prepared.error().message);
  CHECK_FALSE(describer.values_of_earlier_job(job));
  // A later verdict names the seeds of learned values. Those of a group stay secret until a verdict
  // of the group is read.
  Job in_group = job;
  in_group.cases.resize(1);
  in_group.input_seed = "the secret of a group";
  describer.learn(CaseDescriber::keys_of(in_group), in_group, *prepared);
  CHECK_FALSE(describer.values_of_earlier_job(in_group));
  describer.learn(CaseDescriber::keys_of(job), job, *prepared);
  CHECK_FALSE(describer.values_of_earlier_job(job));  // the describer keeps no hidden case
  Job open = job;
  open.cases.resize(1);
  const std::optional<PreparedJob> known = describer.values_of_earlier_job(open);
  REQUIRE(known);
  REQUIRE(known->cases.size() == 1);
  CHECK(known->cases[0].seed == prepared->cases[0].seed);
  CHECK(is_as_described(known->cases[0], prepared->cases[0]));
  CHECK(values_in(*known) == values_in(*prepared, 0));
  CHECK(values_in(*known).size() == 1);
  judge.release(job.id);
}

TEST_CASE("an operator that cannot be described is an error") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  CaseDescriber describer(judge);
  const Job job = own_operator("described_never", "raise RuntimeError('no inputs')");
  const Result<PreparedJob> described = describer.describe(job, Deadline::after_ms(60'000));
  REQUIRE_FALSE(described);
  CHECK(described.error().message.find("no inputs") != std::string::npos);
}

}  // namespace assay::sandbox
