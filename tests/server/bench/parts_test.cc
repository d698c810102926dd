// The parts of `assay bench` that need no server: options, journal, progress.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/handle.h"
#include "server/bench/journal.h"
#include "server/bench/options.h"
#include "server/bench/progress.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::bench;

namespace {

struct Scratch {
  std::filesystem::path dir = std::filesystem::temp_directory_path() / new_handle("bench_test");
  ~Scratch() { std::filesystem::remove_all(dir); }
};

const BenchIdentity kIdentity{"one_shot", "openai:gpt-5", "all", "cpu", "", "/s.db", 2};

agents::Attempt attempt_costing(double usd) {
  agents::Attempt attempt;
  attempt.outcome = "pass";
  attempt.cost_usd = usd;
  attempt.charged_usd = usd;
  return attempt;
}

}  // namespace

TEST_CASE("names that are no device or split") {
  BenchOptions options;
  options.device = "tpu";
  const Status unknown = check_options(options);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message == "unknown device 'tpu'; valid: cpu, cuda:N, fake");
  CHECK(*suite_of(options, nullptr) == "all");
  options.split = "ood";
  CHECK(*suite_of(options, nullptr) == "ood");
  options.split = "odd";
  CHECK(suite_of(options, nullptr).error().message.find("standard, ood, dsl") != std::string::npos);
  options.split = "";
  options.operators = " vector_add, gelu_tanh ,,vector_add";
  CHECK(*suite_of(options, nullptr) == "vector_add,gelu_tanh");
  options.operators = " , ";
  CHECK(suite_of(options, nullptr).error().code == ErrorCode::invalid_argument);
  options.track = "scaled";
  CHECK(check_options(options));
  options.track = "weekend";
  CHECK(check_options(options).error().code == ErrorCode::not_found);
  CHECK(check_options(options).error().message.find("practice, one_shot, iterative, scaled") !=
        std::string::npos);
}

TEST_CASE("a model that can answer some operators only is asked for those") {
  const Result<operators::Catalog> catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators");
  REQUIRE(catalog);
  const std::vector<std::string> answerable = {"clamped_affine_scan", "no_operator", "vector_add"};
  BenchOptions options;
  CHECK(*suite_of(options, &*catalog, answerable) == "clamped_affine_scan,vector_add");
  options.split = "ood";
  CHECK(*suite_of(options, &*catalog, answerable) == "clamped_affine_scan");
  options.split = "dsl";
  CHECK(*suite_of(options, &*catalog, answerable) == "dsl");
  options.split = "";
  options.operators = "gelu_tanh";
  CHECK(*suite_of(options, &*catalog, answerable) == "gelu_tanh");
}

TEST_CASE("the default directory is a plain name") {
  BenchOptions options;
  options.models = {"together:../../etc/x y"};
  CHECK(bench_directory(options, "one_shot", options.models[0]) ==
        "bench-out/one_shot_together_.._.._etc_x_y");
  options.out = "/tmp/here";
  CHECK(bench_directory(options, "one_shot", options.models[0]) == "/tmp/here");
  options.agents.emplace_back("leader?rounds=4");  // several pairs: a folder each
  CHECK(bench_directory(options, "leader?rounds=4", options.models[0]) ==
        "/tmp/here/leader_rounds_4_together_.._.._etc_x_y");
}

TEST_CASE("a journal remembers runs, ends and costs, and drops a torn last line") {
  Scratch scratch;
  {
    const auto journal = BenchJournal::open(scratch.dir, kIdentity, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(1, {"run_a", {"x", "y"}}));
    REQUIRE((*journal)->add_finished(1, "x", attempt_costing(0.5)));
    REQUIRE((*journal)->add_finished(2, "y", attempt_costing(0.25)));
  }
  {
    std::ofstream(scratch.dir / "journal.jsonl", std::ios::app)
        << R"({"kind":"finished","sample":1,"oper)";
  }
  for (int again = 0; again < 2; ++again) {
    const auto journal = BenchJournal::open(scratch.dir, kIdentity, true);
    REQUIRE(journal);
    REQUIRE((*journal)->run_of(1) != nullptr);
    CHECK((*journal)->run_of(1)->operators == std::vector<std::string>{"x", "y"});
    CHECK((*journal)->run_of(2) == nullptr);
    CHECK((*journal)->is_finished(1, "x"));
    CHECK_FALSE((*journal)->is_finished(1, "y"));
    CHECK((*journal)->is_finished(2, "y"));
    CHECK((*journal)->finished_before().size() == 2);
    CHECK((*journal)->finished_before().at({1, "x"}).outcome == "pass");
    CHECK((*journal)->spent_before_usd() == Approx(0.75));
  }
}

TEST_CASE("a journal tells a cost of 0 from one that is not known, and counts what was charged") {
  Scratch scratch;
  {
    const auto journal = BenchJournal::open(scratch.dir, kIdentity, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(1, {"run_a", {"free", "unknown", "old"}}));
    REQUIRE((*journal)->add_finished(1, "free", attempt_costing(0)));
    agents::Attempt attempt = attempt_costing(0.125);
    attempt.cost_known = false;
    attempt.charged_usd = 3;
    REQUIRE((*journal)->add_finished(1, "unknown", attempt));
  }
  {
    std::ofstream(scratch.dir / "journal.jsonl", std::ios::app)
        << R"({"kind":"finished","sample":1,"operator":"old","outcome":"pass","cost_usd":0.5})"
        << "\n";
  }
  const auto journal = BenchJournal::open(scratch.dir, kIdentity, true);
  REQUIRE(journal);
  const auto& ends = (*journal)->finished_before();
  CHECK(ends.at({1, "free"}).cost_usd.value() == 0);
  CHECK_FALSE(ends.at({1, "unknown"}).cost_usd);
  CHECK(ends.at({1, "old"}).charged_usd == 0.5);
  CHECK((*journal)->spent_before_usd() == Approx(3.5));
}

TEST_CASE("a journal of another bench, of none, or of rubbish is refused") {
  Scratch scratch;
  CHECK(
      BenchJournal::open(scratch.dir, kIdentity, true).error().message.find("no bench to resume") !=
      std::string::npos);
  REQUIRE(BenchJournal::open(scratch.dir, kIdentity, false));
  {
    const auto anew =
        BenchJournal::open(scratch.dir, kIdentity, false);  // the first one never opened a run
    REQUIRE(anew);
    REQUIRE((*anew)->add_run(1, {"run_a", {"x"}}));
  }
  CHECK(BenchJournal::open(scratch.dir, kIdentity, false).error().message.find("--resume") !=
        std::string::npos);
  BenchIdentity other = kIdentity;
  other.model = "openai:gpt-4o";
  CHECK(BenchJournal::open(scratch.dir, other, true)
            .error()
            .message.find("model is \"openai:gpt-5\" there and \"openai:gpt-4o\" here") !=
        std::string::npos);
  { std::ofstream(scratch.dir / "journal.jsonl", std::ios::app) << "rubbish\n"; }
  CHECK(BenchJournal::open(scratch.dir, kIdentity, true).error().code == ErrorCode::corrupt);
}

TEST_CASE("a bench is resumed on its track") {
  Scratch scratch;
  BenchIdentity scaled = kIdentity;
  scaled.track = "scaled";
  {
    const auto journal = BenchJournal::open(scratch.dir, scaled, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(1, {"run_a", {"x"}}));
  }
  CHECK(read_journal(scratch.dir)->identity.track == "scaled");
  CHECK(BenchJournal::open(scratch.dir, kIdentity, true)
            .error()
            .message.find("track is \"scaled\" there and missing here") != std::string::npos);
  CHECK(BenchJournal::open(scratch.dir, scaled, true));
}

TEST_CASE("a journal is open for one bench at a time") {
  Scratch scratch;
  const auto journal = BenchJournal::open(scratch.dir, kIdentity, false);
  REQUIRE(journal);
  const auto second = BenchJournal::open(scratch.dir, kIdentity, true);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::unavailable);
  CHECK(second.error().message.find("in use by another bench") != std::string::npos);
}

TEST_CASE("a journal is read without being changed") {
  Scratch scratch;
  CHECK(read_journal(scratch.dir).error().code == ErrorCode::not_found);
  {
    const auto journal = BenchJournal::open(scratch.dir, kIdentity, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(2, {"run_a", {"x", "y"}}));
    agents::Attempt failed;
    failed.outcome = "fail";
    failed.error_kind = "wrong_result";
    REQUIRE((*journal)->add_finished(2, "x", failed, 1500, "step 3: other"));
  }
  { std::ofstream(scratch.dir / "journal.jsonl", std::ios::app) << R"({"kind":"finis)"; }
  const auto size = std::filesystem::file_size(scratch.dir / "journal.jsonl");
  const auto content = read_journal(scratch.dir);
  REQUIRE(content);
  CHECK(std::filesystem::file_size(scratch.dir / "journal.jsonl") == size);
  CHECK(content->identity.model == "openai:gpt-5");
  CHECK(content->identity.samples == 2);
  CHECK(content->runs.at(2).operators.size() == 2);
  const JournalledEnd& end = content->finished.at({2, "x"});
  CHECK(end.error_kind == "wrong_result");
  CHECK(end.wall_ms == 1500);
  CHECK(end.replay == "step 3: other");
}

TEST_CASE("durations as they are given") {
  CHECK(*duration_from("90") == 90);
  CHECK(*duration_from("90s") == 90);
  CHECK(*duration_from("15m") == 900);
  CHECK(*duration_from("1h30m") == 5'400);
  CHECK(*duration_from("1h0m5") == 3'605);
  for (const char* bad : {"", "0", "-5", "5d", "m", "1m1h", "5m5m", "1.5h", "999999999999999999999",
                          "721h", "10 m"}) {
    INFO(bad);
    REQUIRE_FALSE(duration_from(bad));
    CHECK(duration_from(bad).error().message.find("1h30m") != std::string::npos);
  }
}

TEST_CASE("progress: bar, estimates, durations") {
  CHECK(duration_text(0.4) == "0 s");
  CHECK(duration_text(200) == "3 min 20 s");
  CHECK(duration_text(7'500) == "2 h 5 min");
  CHECK(progress_text({{.total = 16}}, 1) == "[------------------------] 0/16, 0 pass");
  const ProgressGroup half{
      .total = 16, .done = 8, .good = 3, .priced = true, .cost_usd = 0.2, .timed = 8, .wall_s = 20};
  CHECK(progress_text({half}, 1) ==
        "[############------------] 8/16, 3 pass, 20 s left, $0.20 of about $0.40");
  CHECK(progress_text({half}, 4) ==
        "[############------------] 8/16, 3 pass, 5 s left, $0.20 of about $0.40");
  CHECK(progress_text({{.total = 16, .done = 16, .good = 16, .timed = 16, .wall_s = 9}}, 2) ==
        "[########################] 16/16, 16 pass, 0 s left");
}

TEST_CASE("estimates are made pair by pair, and what never ended is taken to be like the others") {
  const ProgressGroup slow{.total = 4,
                           .done = 2,
                           .priced = true,
                           .cost_usd = 2,
                           .timed = 1,
                           .wall_s = 100};  // one end from a journal without times
  const ProgressGroup quick{.total = 4, .done = 4, .priced = false, .timed = 4, .wall_s = 4};
  CHECK(estimate_text({slow, quick}, 1) == "3 min 20 s left, $2.00 of about $4.00");
  CHECK(estimate_text({slow, quick}, 8) ==
        "1 min 40 s left, $2.00 of about $4.00");  // two attempts remain: no more than two at once
  const ProgressGroup fresh{.total = 10, .priced = true};
  CHECK(estimate_text({quick, fresh}, 1) == "10 s left, $0.0000 of about $0.0000");
  CHECK(estimate_text({{.total = 3, .done = 1, .priced = true, .cost_usd = 1}}, 1) ==
        "$1.00 of about $3.00");
  CHECK(estimate_text({fresh}, 1).empty());
}

TEST_CASE("progress without a terminal is plain lines") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    BenchProgress progress(file, false, {{.total = 2}}, 1);
    progress.step("vector_add", "compile");
    progress.finished(0, "vector_add", Label::wrong, "3 of 9 elements\x1b differ", 0, 0.2);
    progress.unfinished("gelu_tanh", "HTTP 503");
  }
  std::rewind(file);
  char text[600] = {};
  const std::size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  const std::string shown(text, size);
  CHECK(shown.find(
            "[1/2] vector_add             wrong            3 of 9 elements differ  (0 s left)\n") ==
        0);
  CHECK(shown.find("gelu_tanh              not finished     HTTP 503\n") != std::string::npos);
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find("compile") == std::string::npos);
}
