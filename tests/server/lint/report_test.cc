#include "server/lint/report.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/handle.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

namespace fs = std::filesystem;

struct Scratch {
  fs::path dir = fs::temp_directory_path() / new_handle("lint_cache_test");
  Scratch() { fs::create_directories(dir / "op"); }
  ~Scratch() { fs::remove_all(dir); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir / name) << text;
  }
};

LintReport sound() {
  LintReport report;
  report.checks_s = 1.5;
  report.oracle_s = 0.25;
  report.interpreter_ms = 170;
  report.name = "demo";
  report.checks = 12;
  report.mutants = report.killed = 9;
  report.oracle = "pass";
  report.recorded = "all 7 cases record for cuda:90";
  report.verdict = {{"outcome", "pass"}};
  return report;
}

}  // namespace

TEST_CASE("failed checks are a few lines, however many cases and mutants fail") {
  using Lines = std::vector<std::string>;
  std::vector<sandbox::LintCheck> checks = {{"small", "runs", "no memory", false, false},
                                            {"small", "rejects ones", "", true, true}};
  CHECK(failure_lines("op", checks) == Lines{"op, case small, runs: no memory"});
  checks.push_back({"large", "runs", "no time", false, false});
  checks.push_back({"", "scalar a varies", "a is 1", false, false});
  CHECK(failure_lines("op", checks) == Lines{"op, case small, runs: no memory (also in case large)",
                                             "op, scalar a varies: a is 1"});
  checks = {{"small", "rejects zeros", "passes with 0.1", false, true}};
  CHECK(failure_lines("op", checks) == Lines{"op, case small, rejects zeros: passes with 0.1"});
  for (int i = 0; i < 10; ++i)
    checks.push_back({"c" + std::to_string(i), "rejects ones", "passes too", false, true});
  const Lines many = failure_lines("op", checks);
  REQUIRE(many.size() == 2);
  CHECK(many[0] == "op, case small, rejects zeros: passes with 0.1");
  CHECK(many[1].find("op, 10 more checks with mutants fail: c0 rejects ones, c1 rejects ones") ==
        0);
  CHECK(many[1].find("c7 rejects ones and 2 more") != std::string::npos);
}

TEST_CASE("a lint report for people and as JSON") {
  LintReport report = sound();
  CHECK(lint_text(report) ==
        "ok   demo                     12 checks, 9 of 9 mutants killed, oracle pass; all 7 cases "
        "record for cuda:90\n");
  report.failures = {"demo, case small, runs: no"};
  report.recorded = "";
  CHECK(lint_text(report) ==
        "FAIL demo, case small, runs: no\nFAIL demo                     12 checks, 9 of 9 mutants "
        "killed, oracle pass\n");
  report.undecided = "demo: the device is full";
  CHECK_FALSE(report.is_sound());
  CHECK(lint_text(report).find("\n?    demo: the device is full\nFAIL demo ") != std::string::npos);
  const Result<LintReport> again = lint_from_json(lint_to_json(report));
  REQUIRE(again);
  CHECK(lint_to_json(*again) == lint_to_json(report));
  CHECK(again->failures == report.failures);
  CHECK(again->undecided == report.undecided);
  CHECK(lint_to_json(report).at("sound") == false);
  for (const char* field : {"name", "checks", "mutants", "killed", "failures", "oracle", "recorded",
                            "verdict", "checks_s", "oracle_s", "undecided"}) {
    nlohmann::json broken = lint_to_json(report);
    broken.erase(field);
    CHECK(lint_from_json(broken).error().message.find(field) != std::string::npos);
  }
  CHECK(lint_from_json("text").error().code == ErrorCode::corrupt);
}

TEST_CASE("a report whose checks could not be finished is neither sound nor a failure") {
  LintReport report = sound();
  report.undecided = "demo: the device is full";
  CHECK_FALSE(report.is_sound());
  CHECK(lint_text(report).find("?    demo: the device is full\n?    demo ") == 0);
  const Scratch scratch;
  operators::Operator op;
  op.name = "demo";
  op.directory = scratch.dir / "op";
  const LintCache cache(scratch.dir / "cache", "judges");
  cache.keep(op, report);
  CHECK_FALSE(cache.find(op));
}

TEST_CASE("a sound report is found again until the operator or the judges change") {
  const Scratch scratch;
  scratch.write("op/spec.toml", "one");
  operators::Operator op;
  op.name = "demo";
  op.directory = scratch.dir / "op";
  const LintCache cache(scratch.dir / "cache", "judges");
  CHECK_FALSE(cache.find(op));
  cache.keep(op, sound());
  REQUIRE(cache.find(op));
  CHECK(lint_to_json(*cache.find(op)) == lint_to_json(sound()));

  SECTION("a fresh cache finds nothing and keeps reports") {
    const LintCache fresh(scratch.dir / "cache", "judges", true);
    CHECK_FALSE(fresh.find(op));
    LintReport later = sound();
    later.checks = 13;
    fresh.keep(op, later);
    CHECK(cache.find(op)->checks == 13);
  }
  SECTION("another judge") { CHECK_FALSE(LintCache(scratch.dir / "cache", "other").find(op)); }
  SECTION("another file") {
    scratch.write("op/oracle.py", "");
    CHECK_FALSE(cache.find(op));
  }
  SECTION("another text") {
    scratch.write("op/spec.toml", "two");
    CHECK_FALSE(cache.find(op));
    scratch.write("op/spec.toml", "one");
    CHECK(cache.find(op));
  }
  SECTION("files that Python leaves in the folder are no change") {
    fs::create_directories(scratch.dir / "op/__pycache__");
    scratch.write("op/__pycache__/reference.pyc", "x");
    CHECK(cache.find(op));
  }
  SECTION("another name in the same folder") {
    op.name = "other";
    CHECK_FALSE(cache.find(op));
  }
  SECTION("a damaged file is ignored") {
    for (const fs::directory_entry& entry : fs::directory_iterator(scratch.dir / "cache"))
      std::ofstream(entry.path()) << "{\"name\": ";
    CHECK_FALSE(cache.find(op));
  }
}

TEST_CASE("a report with a failure is not kept, and a folder that cannot be made is no error") {
  const Scratch scratch;
  operators::Operator op;
  op.name = "demo";
  op.directory = scratch.dir / "op";
  LintReport failed = sound();
  failed.failures = {"no"};
  const LintCache cache(scratch.dir / "cache", "judges");
  cache.keep(op, failed);
  CHECK_FALSE(cache.find(op));
  scratch.write("file", "");
  const LintCache nowhere(scratch.dir / "file/cache", "judges");
  nowhere.keep(op, sound());
  CHECK_FALSE(nowhere.find(op));
}

TEST_CASE("the hash of the judges changes with device, programs and harness") {
  const Scratch scratch;
  fs::create_directories(scratch.dir / "sandbox/harness/judging");
  Paths paths;
  paths.root = paths.binaries = scratch.dir;
  paths.python = "/usr/bin/python3";
  const sandbox::DeviceInfo cpu{.name = "cpu", .description = "", .default_target = ""};
  const std::string before = content_of_judges(paths, cpu);
  CHECK(before == content_of_judges(paths, cpu));
  CHECK(before !=
        content_of_judges(paths, {.name = "cuda:0", .description = "", .default_target = ""}));
  scratch.write("sandbox/harness/judging/lint.py", "x");
  const std::string with_harness = content_of_judges(paths, cpu);
  CHECK(with_harness != before);
  scratch.write("assay", "binary");
  CHECK(content_of_judges(paths, cpu) != with_harness);
}
