// Tests the judges of imported suites: each suite has judges of its own, in a jail.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "sandbox/device/cpu.h"
#include "sandbox/device/record_device.h"
#include "sandbox/pool/jailed_judge.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cpu_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

std::string suite_folder(const std::string& suite) { return real_config().state_dir + "/" + suite; }

/// A job of a suite with one operator, a copy of vector_add whose reference.py also has `code`.
Job in_suite(const std::string& suite, const std::string& code) {
  Job job = test_job(kGood);
  job.cases.resize(1);
  const std::filesystem::path folder =
      std::filesystem::path(suite_folder(suite)) / "standard/vector_add";
  std::filesystem::create_directories(folder);
  for (const char* file : {"spec.toml", "oracle.py"})
    std::filesystem::copy_file(std::filesystem::path(job.operator_dir) / file, folder / file,
                               std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder / "reference.py")
      << read_text(std::filesystem::path(job.operator_dir) / "reference.py") << "\n"
      << code;
  job.operator_dir = folder.string();
  return job;
}

/// Code that makes the process that judges this operator accept every output.
constexpr const char* kAcceptsAll = R"(
import harness.judging.case_state as case_state
from harness.judging.compare import Result
case_state.CaseState.judge = lambda self, outputs, poisoned=False: Result(True)
)";

}  // namespace

TEST_CASE("the judge of an imported suite is in a jail, and changes no judge of another suite") {
  const Job changing = in_suite("suite_that_accepts_all", kAcceptsAll);
  // The reference can read no folder but that of its suite.
  Job honest = in_suite("suite_that_is_honest",
                        "import os\nassert not os.path.exists('" +
                            suite_folder("suite_that_accepts_all") + "')\nassert os.listdir('" +
                            suite_folder("suite_that_is_honest") + "') == ['standard']\n");
  SandboxConfig config = real_config();
  config.imported_suites = {suite_folder("suite_that_accepts_all"),
                            suite_folder("suite_that_is_honest")};
  const std::unique_ptr<Device> device = make_cpu_device(config);
  JobMonitor monitor;
  Job wrong = changing;
  const std::string sum = "tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)";
  wrong.source.replace(wrong.source.find(sum), sum.size(), "tl.load(x + i, mask=i < n)");
  const Verdict accepted = device->execute(wrong, monitor);
  INFO(accepted.summary << " " << accepted.detail);
  CHECK(accepted.outcome == Outcome::pass);

  const Verdict passed = device->execute(honest, monitor);
  INFO(passed.summary << " " << passed.detail);
  CHECK(passed.outcome == Outcome::pass);
  honest.id += "_wrong";
  honest.source = wrong.source;
  CHECK(device->execute(honest, monitor).error_kind == ErrorKind::wrong_result);
  // Operators of no imported suite have the trusted judge.
  Job trusted = test_job(wrong.source);
  trusted.cases.resize(1);
  CHECK(device->execute(trusted, monitor).error_kind == ErrorKind::wrong_result);

  // A reference that ends its judge is named, and the suite's next job has a new judge.
  const Job ending = in_suite("suite_that_is_honest", "import os\nos.abort()\n");
  const Verdict ended = device->execute(ending, monitor);
  INFO(ended.summary << " " << ended.detail);
  CHECK(ended.error_kind == ErrorKind::reference_error);
  CHECK(device->execute(in_suite("suite_that_is_honest", ""), monitor).outcome == Outcome::pass);
}

TEST_CASE("a worker that records describes the cases of an imported suite in a jail too") {
  const std::string outside = real_config().state_dir + "/written_by_a_reference";
  std::filesystem::remove(outside);
  Job job = in_suite("suite_that_writes",
                     "try:\n    open('" + outside + "', 'w').close()\nexcept OSError:\n    pass\n");
  job.kind = JobKind::compile;
  SandboxConfig config = real_config();
  config.imported_suites = {suite_folder("suite_that_writes")};
  RecordDevice device(config);
  JobMonitor monitor;
  const Verdict compiled = device.execute(job, monitor);
  INFO(compiled.summary << " " << compiled.detail);
  CHECK(compiled.outcome == Outcome::pass);
  CHECK_FALSE(std::filesystem::exists(outside));
}

TEST_CASE("the judges of two suites have no slot in common, also with as many suites as can be") {
  SandboxConfig config = real_config();
  for (int i = 0; i < kMostImportedSuites; ++i)
    config.imported_suites.push_back("/suites/" + std::to_string(i));
  int next = 0;
  for (std::size_t i = 0; i < config.imported_suites.size(); ++i) {
    const SandboxConfig pool = judge_pool_config(config, i, std::nullopt);
    CHECK(pool.judged_suite == config.imported_suites[i]);
    CHECK(pool.first_judge_slot == next);
    CHECK(pool.judge_slots > kSpareJudgeSlots);
    next += pool.judge_slots;
  }
  CHECK(next <= CandidatePool::kJudgeSlots);
}

TEST_CASE("a suite that the jail's user cannot read is named with the remedy") {
  if (::geteuid() != 0) return;  // without root, the user of the jail is this user
  const Job job = in_suite("suite_that_is_private", "");
  SandboxConfig config = real_config();
  config.imported_suites = {suite_folder("suite_that_is_private")};
  std::filesystem::permissions(config.imported_suites[0], std::filesystem::perms::owner_all);
  const std::unique_ptr<Device> device = make_cpu_device(config);
  JobMonitor monitor;
  const Verdict refused = device->execute(job, monitor);
  CHECK(refused.error_kind == ErrorKind::internal_error);
  CHECK(refused.detail.find("chmod -R o+rX " + config.imported_suites[0]) != std::string::npos);
}
