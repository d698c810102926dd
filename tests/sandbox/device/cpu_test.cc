// Tests verdicts of the CPU device: small cases in Triton's interpreter, and compilation for GPUs.
#include "sandbox/device/cpu.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/sandbox/device/cpu_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

TEST_CASE("the oracle and a plain submission pass on the CPU") {
  const Verdict verdict = run_on_cpu(test_job(oracle()));
  INFO(verdict.summary << verdict.stderr_text);
  REQUIRE(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::interpreter);
  REQUIRE(verdict.cases.size() == 2);
  CHECK(verdict.cases[0].id == "small");
  CHECK(verdict.cases[0].elements == 4097);
  CHECK(verdict.cases[1].hidden);
  CHECK(verdict.skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 0, SkipReason::too_large, "too large for the interpreter"}});
  CHECK(verdict.provenance.seeds.size() == 2);
  CHECK_FALSE(verdict.provenance.torch.empty());
  CHECK_FALSE(verdict.perf);
  CHECK(run_on_cpu(test_job(kGood)).outcome == Outcome::pass);
}

TEST_CASE("a skipped case has its reason") {
  Job job = test_job(kGood);
  job.cases[1].dtype = "bfloat16";
  CHECK(run_on_cpu(job).skipped_cases ==
        std::vector<SkippedCases>{
            {{"large"}, 0, SkipReason::dtype, "bfloat16, which the interpreter cannot run"}});
}

TEST_CASE("without a case for the interpreter, a source is still imported and recorded") {
  const auto verdict_of = [](const std::string& source, bool imported) {
    Job job = test_job(source);
    for (CaseRequest& one : job.cases) one.interpreter = false;
    if (imported) job.adapter = "def adapted(x, y):\n    return vector_add(x, y)\n";
    return run_on_cpu(job);
  };
  const Verdict broken = verdict_of("def vector_add(x, y:\n    return x\n", true);
  CHECK(broken.error_kind == ErrorKind::syntax_error);
  REQUIRE(broken.diagnostic);
  CHECK(broken.diagnostic->line == 1);
  const Verdict right = verdict_of(kGood, true);
  INFO(right.summary << right.detail);
  CHECK(right.error_kind == ErrorKind::unsupported);
  CHECK(right.detail.find("its reference, the benchmark's own kernel, needs a GPU") == 0);
  CHECK_FALSE(right.kernels.empty());
  REQUIRE_FALSE(right.skipped_cases.empty());
  CHECK(right.skipped_cases.front().reason == SkipReason::reference);
  Job without_oracle = test_job(kGood);
  without_oracle.adapter = "def adapted(x, y):\n    return vector_add(x, y)\n";
  without_oracle.baseline = Baseline::torch_eager;
  const Verdict judged = run_on_cpu(without_oracle);
  REQUIRE_FALSE(judged.skipped_cases.empty());
  CHECK(judged.skipped_cases.front().reason == SkipReason::too_large);
  const Verdict large = verdict_of(kGood, false);
  CHECK(large.error_kind == ErrorKind::unsupported);
  CHECK(large.detail.find("is too large for the CPU interpreter") != std::string::npos);
  CHECK(large.skipped_cases.front().reason == SkipReason::too_large);
}

TEST_CASE("a grade has figures and hints from a recording") {
  const Verdict verdict = run_on_cpu(vector_add(JobKind::grade, oracle()));
  INFO(verdict.summary);
  for (const Hint& hint : verdict.hints) UNSCOPED_INFO(hint.text);
  CHECK(verdict.outcome == Outcome::pass);
  REQUIRE_FALSE(verdict.kernels.empty());
  CHECK(verdict.kernels[0].registers > 0);
  CHECK(verdict.kernels[0].occupancy > 0);
  CHECK_FALSE(verdict.perf);
}

TEST_CASE("a pass needs kernels that compile, also if the interpreter finds them right") {
  std::string python = kGood;
  python.replace(python.find("tl.store"), 8, "import numpy; numpy.exp(0.0); tl.store");
  for (const JobKind kind : {JobKind::test, JobKind::grade}) {
    const Verdict verdict = run_on_cpu(vector_add(kind, python));
    INFO(verdict.summary << " " << verdict.detail);
    CHECK(verdict.outcome == Outcome::error);
    CHECK((verdict.stage == Stage::compile || verdict.stage == Stage::record));
    CHECK(verdict.cases.empty());
    CHECK(verdict.tier == Tier::none);
  }
}

TEST_CASE("a test says for which target it compiled the kernels") {
  const Verdict verdict = run_on_cpu(test_job(kGood));
  REQUIRE(verdict.kernels.size() == 1);
  CHECK(verdict.kernels[0].target == "cuda:90");
  CHECK(verdict.tier_reason.ends_with("compiled for cuda:90"));
}

TEST_CASE("a verdict counts the processor time of the interpreter, not of the import") {
  const std::string spin =
      "import time\nend = time.process_time() + SECONDS\nwhile time.process_time() < end: pass\n";
  const auto with = [&](const std::string& seconds) {
    std::string text = spin;
    return text.replace(text.find("SECONDS"), 7, seconds);
  };
  std::string source = kGood;
  const std::string entry = "def vector_add(x, y):\n";
  source.insert(source.find(entry) + entry.size(),
                "    import time\n    end = time.process_time() + 0.4\n"
                "    while time.process_time() < end: pass\n");
  const std::int64_t slow = run_on_cpu(test_job(source)).run_cpu_ms;
  const std::int64_t slow_import = run_on_cpu(test_job(with("0.4") + kGood)).run_cpu_ms;
  CHECK(slow >= 390);  // the clock's ticks are 10 ms apart
  CHECK(slow_import < slow);
}

TEST_CASE("a result that depends on the order of programs is a race, and an atomic sum is none") {
  const std::string halves = R"(import torch, triton, triton.language as tl
@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) // 2 * BLOCK + tl.arange(0, BLOCK)
    v = tl.load((x if tl.program_id(0) % 2 == 0 else y) + i, mask=i < n)
    STORE
def vector_add(x, y):
    z = torch.zeros_like(x)
    add[(2 * triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
)";
  const auto with = [&](const std::string& store) {
    std::string source = halves;
    return test_job(source.replace(source.find("STORE"), 5, store));
  };
  const Verdict race =
      run_on_cpu(with("tl.store(z + i, tl.load(z + i, mask=i < n) + v, mask=i < n)"));
  INFO(race.summary);
  CHECK(race.outcome == Outcome::fail);
  CHECK(race.error_kind == ErrorKind::wrong_result);
  CHECK(std::any_of(race.hints.begin(), race.hints.end(),
                    [](const Hint& hint) { return hint.kind == HintKind::not_deterministic; }));
  CHECK(run_on_cpu(with("tl.atomic_add(z + i, v, mask=i < n)")).outcome == Outcome::pass);
}

TEST_CASE("compile works for several targets without a GPU") {
  Job job = vector_add(JobKind::compile, oracle());
  job.targets = {"cuda:80", "cuda:90", "hip:gfx942"};
  job.want_artifacts = true;
  const Verdict verdict = run_on_cpu(job);
  INFO(verdict.summary << verdict.detail << verdict.stderr_text);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::none);
  CHECK(verdict.kernels.size() == 3);
  std::map<std::string, int> kinds;
  for (const Artifact& artifact : verdict.artifacts) ++kinds[artifact.kind];
  CHECK(kinds["ptx"] == 2);
  CHECK(kinds["amdgcn"] == 1);
  CHECK(kinds["plan"] == 3);
}

TEST_CASE(
    "a dialect that cannot be interpreted is compiled, and the verdict names the GPU that it "
    "needs") {
  Job job = vector_add(JobKind::test,
                       read_text(ASSAY_SOURCE_DIR "/operators/dsl/gluon_blocked_add/oracle.py"));
  job.operator_name = job.entry = "gluon_blocked_add";
  job.operator_dir = ASSAY_SOURCE_DIR "/operators/dsl/gluon_blocked_add";
  job.dialect = "gluon";
  const Verdict verdict = run_on_cpu(job);
  INFO(verdict.summary << " " << verdict.detail << verdict.stderr_text);
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::unsupported);
  CHECK(verdict.detail.find("Hopper") != std::string::npos);
  CHECK_FALSE(verdict.kernels.empty());
}

TEST_CASE("a submission that no case can interpret still gets the errors of its own code") {
  for (const auto& [source, kind] : std::map<std::string, ErrorKind>{
           {"def vector_add(x, y:\n", ErrorKind::syntax_error},
           {"import nothing_like_this\n", ErrorKind::module_not_found},
           {"def vector_add(x):\n    return x\n", ErrorKind::type_error},
           {kGood, ErrorKind::unsupported}}) {
    Job job = test_job(source);
    for (CaseRequest& one : job.cases) one.interpreter = false;
    const Verdict verdict = run_on_cpu(job);
    INFO(verdict.detail);
    CHECK(verdict.error_kind == kind);
  }
}

TEST_CASE("CUDA C++ is compiled, and the verdict names the GPU that it needs") {
  Job job = test_job(read_text(std::string(ASSAY_SOURCE_DIR) + "/tests/cuda_cpp/vector_add.cu"));
  job.language = "cuda";
  for (const JobKind kind : {JobKind::test, JobKind::grade, JobKind::profile}) {
    job.kind = kind;
    const Verdict verdict = run_on_cpu(job);
    INFO(verdict.summary << verdict.detail << verdict.stderr_text);
    CHECK(verdict.error_kind == ErrorKind::unsupported);
    CHECK(verdict.detail.find("NVIDIA GPU") != std::string::npos);
    REQUIRE(verdict.kernels.size() == 1);
    CHECK(verdict.kernels[0].registers > 0);
    CHECK(verdict.language == "cuda");
  }
  job.kind = JobKind::compile;
  CHECK(run_on_cpu(job).outcome == Outcome::pass);
  job.source += "oops";
  CHECK(run_on_cpu(job).error_kind == ErrorKind::compilation_error);
  job.kind = JobKind::test;
  const Verdict refused = run_on_cpu(job);
  CHECK(refused.error_kind == ErrorKind::compilation_error);
  REQUIRE(refused.diagnostic);
  CHECK(refused.diagnostic->message.find("submission.cu(") != std::string::npos);
}

TEST_CASE("a stored launch plan needs a GPU, and the verdict names it") {
  JobMonitor monitor;
  Job job = test_job("");
  job.plans = {{job.cases[0].id, "ASSAYPLN"}};
  const Verdict verdict = cpu().execute(job, monitor);
  CHECK(verdict.error_kind == ErrorKind::unsupported);
  CHECK(verdict.detail.find("cuda:N") != std::string::npos);
  CHECK(verdict.cases.empty());
}
