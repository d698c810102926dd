// Tests the order of a grade on the CPU: first the public cases, and then, if they are right, the
// hidden cases.
#include "sandbox/judging/interpreted_cases.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/sandbox/device/cpu_fixture.h"

using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Grades a correct submission whose entry function runs the code `early` first.
Verdict graded(const std::string& early) {
  std::string source = kGood;
  const std::string entry = "def vector_add(x, y):\n";
  source.insert(source.find(entry) + entry.size(), early);
  return run_on_cpu(vector_add(JobKind::grade, source));
}

bool has_record(const Verdict& verdict, const std::string& id) {
  return std::any_of(verdict.cases.begin(), verdict.cases.end(),
                     [&](const CaseRecord& record) { return record.id == id; });
}

}  // namespace

TEST_CASE("a grade that is right on the public cases gets the hidden ones") {
  const Verdict verdict = graded("");
  INFO(verdict.summary);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(verdict.tells_hidden);
  CHECK(has_record(verdict, "hidden_small"));
  CHECK_FALSE(verdict.kernels.empty());
  Job open = test_job(kGood);
  std::erase_if(open.cases, [](const CaseRequest& one) { return one.hidden; });
  CHECK_FALSE(run_on_cpu(open).tells_hidden);
}

TEST_CASE("a grade that is wrong on a public case gets no hidden one") {
  const Verdict wrong = graded("    return torch.zeros_like(x)\n");
  CHECK(wrong.outcome == Outcome::fail);
  CHECK(wrong.error_kind == ErrorKind::wrong_result);
  CHECK_FALSE(wrong.tells_hidden);
  CHECK(has_record(wrong, "small"));
  CHECK_FALSE(has_record(wrong, "hidden_small"));

  const Verdict raised = graded("    raise ValueError(x.numel())\n");
  CHECK(raised.error_kind == ErrorKind::value_error);
  CHECK(raised.diagnostic->message == "4097");
  CHECK_FALSE(raised.tells_hidden);
}

TEST_CASE("an error on a hidden case leaves the records of the public cases") {
  const Verdict verdict = graded("    if x.numel() == 12289:\n        raise ValueError('seen')\n");
  CHECK(verdict.outcome == Outcome::error);
  CHECK(verdict.error_kind == ErrorKind::value_error);
  CHECK(verdict.tells_hidden);
  REQUIRE(verdict.cases.size() == 1);
  CHECK(verdict.cases[0].outcome == Outcome::pass);
  CHECK(verdict.tier == Tier::interpreter);
}

TEST_CASE("an import has no case, and a claim of the parser's error is not believed after it") {
  const Verdict verdict = run_on_cpu(vector_add(JobKind::grade, R"(import os, sys
frame, seen = sys._getframe(), []
while frame:
    seen += [name for name in ("cases", "batch", "case") if name in frame.f_locals]
    frame = frame.f_back
files = []
for fd in os.listdir("/proc/self/fd"):
    try:
        files.append(os.readlink("/proc/self/fd/" + fd))
    except OSError:
        pass  # the descriptor of the listing itself
raise SyntaxError(f"{seen} {[path for path in files if 'memfd' in path]}")
)"));
  CHECK(verdict.error_kind == ErrorKind::other_exception);
  CHECK(verdict.diagnostic->message == "[] []");
  CHECK(verdict.stage == Stage::import);
  CHECK_FALSE(verdict.tells_hidden);
  CHECK(run_on_cpu(vector_add(JobKind::grade, "def f(:\n")).error_kind == ErrorKind::syntax_error);
}

TEST_CASE("the outputs of a public case cannot be changed while a hidden one runs") {
  const Verdict verdict = graded(R"(    if x.numel() == 12289:
        import mmap, os
        for fd in range(3, 64):
            try:
                if "assay-outputs" in os.readlink(f"/proc/self/fd/{fd}"):
                    with mmap.mmap(fd, os.fstat(fd).st_size) as memory:
                        memory[:16] = b"x" * 16
            except OSError:
                pass
)");
  INFO(verdict.summary);
  CHECK(verdict.outcome == Outcome::pass);
}

TEST_CASE("progress stops with the public cases until timing begins") {
  std::vector<Stage> stages;
  std::int64_t most = 0;
  JobMonitor monitor;
  monitor.stage_changed = [&](Stage stage) { stages.push_back(stage); };
  monitor.case_done = [&](std::int64_t done, std::int64_t) { most = std::max(most, done); };
  const Verdict verdict = cpu().execute(vector_add(JobKind::grade, kGood), monitor);
  CHECK(verdict.outcome == Outcome::pass);
  CHECK(most == 1);
  CHECK(stages.back() == Stage::judge);  // the judge stage of the public cases
  CHECK(std::count(stages.begin(), stages.end(), Stage::judge) == 1);
}
