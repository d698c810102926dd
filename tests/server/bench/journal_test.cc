#include "server/bench/journal.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "server/bench/options.h"
#include "tests/catch.h"
#include "tests/server/bench/scratch_folder.h"

using namespace assay;
using namespace assay::bench;

namespace {

const BenchIdentity kIdentity{"one_shot", "openai:gpt-5", "all", "cpu", "", "/s.db", 2};

agents::Attempt attempt_costing(double usd) {
  agents::Attempt attempt;
  attempt.outcome = "pass";
  attempt.cost_usd = usd;
  attempt.charged_usd = usd;
  return attempt;
}

}  // namespace

TEST_CASE("a journal remembers runs, ends and costs, and drops a torn last line") {
  ScratchFolder scratch;
  {
    const auto journal = BenchJournal::open(scratch.path, kIdentity, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(1, {"run_a", {"x", "y"}, {"mine", "2", "0123"}}));
    REQUIRE((*journal)->add_finished(1, "x", attempt_costing(0.5)));
    REQUIRE((*journal)->add_finished(2, "y", attempt_costing(0.25)));
  }
  {
    std::ofstream(scratch.path / "journal.jsonl", std::ios::app)
        << R"({"kind":"finished","sample":1,"oper)";
  }
  for (int again = 0; again < 2; ++again) {
    const auto journal = BenchJournal::open(scratch.path, kIdentity, true);
    REQUIRE(journal);
    REQUIRE((*journal)->run_of(1) != nullptr);
    CHECK((*journal)->run_of(1)->operators == std::vector<std::string>{"x", "y"});
    CHECK((*journal)->run_of(1)->suite_id == SuiteId{"mine", "2", "0123"});
    CHECK((*journal)->run_of(2) == nullptr);
    CHECK((*journal)->is_finished(1, "x"));
    CHECK_FALSE((*journal)->is_finished(1, "y"));
    CHECK((*journal)->is_finished(2, "y"));
    CHECK((*journal)->finished_before().size() == 2);
    CHECK((*journal)->finished_before().at({1, "x"}).outcome == "pass");
    CHECK((*journal)->spent_before_usd() == Approx(0.75));
  }
}

TEST_CASE("a journal distinguishes a cost of 0 from an unknown cost, and counts the charges") {
  ScratchFolder scratch;
  {
    const auto journal = BenchJournal::open(scratch.path, kIdentity, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(1, {"run_a", {"free", "unknown", "old"}}));
    REQUIRE((*journal)->add_finished(1, "free", attempt_costing(0)));
    agents::Attempt attempt = attempt_costing(0.125);
    attempt.cost_known = false;
    attempt.charged_usd = 3;
    REQUIRE((*journal)->add_finished(1, "unknown", attempt));
  }
  {
    std::ofstream(scratch.path / "journal.jsonl", std::ios::app)
        << R"({"kind":"finished","sample":1,"operator":"old","outcome":"pass","cost_usd":0.5})"
        << "\n";
  }
  const auto journal = BenchJournal::open(scratch.path, kIdentity, true);
  REQUIRE(journal);
  const auto& ends = (*journal)->finished_before();
  CHECK(ends.at({1, "free"}).cost_usd.value() == 0);
  CHECK_FALSE(ends.at({1, "unknown"}).cost_usd);
  CHECK(ends.at({1, "old"}).charged_usd == 0.5);
  CHECK((*journal)->spent_before_usd() == Approx(3.5));
}

TEST_CASE("a journal of another bench, an empty one and a broken one are refused") {
  ScratchFolder scratch;
  CHECK(BenchJournal::open(scratch.path, kIdentity, true)
            .error()
            .message.find("no bench to resume") != std::string::npos);
  REQUIRE(BenchJournal::open(scratch.path, kIdentity, false));
  {
    // The first bench ended before it started a run, so a new bench may replace its journal.
    const auto anew = BenchJournal::open(scratch.path, kIdentity, false);
    REQUIRE(anew);
    REQUIRE((*anew)->add_run(1, {"run_a", {"x"}}));
  }
  CHECK(BenchJournal::open(scratch.path, kIdentity, false).error().message.find("--resume") !=
        std::string::npos);
  BenchIdentity other = kIdentity;
  other.model = "openai:gpt-4o";
  CHECK(BenchJournal::open(scratch.path, other, true)
            .error()
            .message.find("model is \"openai:gpt-5\" there and \"openai:gpt-4o\" here") !=
        std::string::npos);
  { std::ofstream(scratch.path / "journal.jsonl", std::ios::app) << "rubbish\n"; }
  CHECK(BenchJournal::open(scratch.path, kIdentity, true).error().code == ErrorCode::corrupt);
}

TEST_CASE("a bench that was killed while it started a run repeats the call under the same id") {
  for (const bool resume : {false, true}) {
    const ScratchFolder scratch;
    std::string first;
    {
      const auto journal = BenchJournal::open(scratch.path, kIdentity, false);
      REQUIRE(journal);
      first = (*journal)->start_of(1).value();
      CHECK((*journal)->start_of(1).value() == first);
      CHECK((*journal)->start_of(2).value() != first);
      CHECK_FALSE((*journal)->has_start_of(3));
    }
    {
      const auto journal = BenchJournal::open(scratch.path, kIdentity, resume);
      REQUIRE(journal);
      CHECK((*journal)->has_start_of(1));
      CHECK((*journal)->start_of(1).value() == first);
      const std::string later = (*journal)->new_start_of(1).value();
      CHECK(later != first);
      first = later;
    }
    {
      const auto journal = BenchJournal::open(scratch.path, kIdentity, resume);
      REQUIRE(journal);
      CHECK((*journal)->start_of(1).value() == first);
    }
    BenchIdentity other = kIdentity;
    other.model = "openai:gpt-4o";
    const auto another = BenchJournal::open(scratch.path, other, false);
    REQUIRE(another);
    CHECK((*another)->start_of(1).value() != first);
  }
}

TEST_CASE("a bench is resumed on its track") {
  ScratchFolder scratch;
  BenchIdentity scaled = kIdentity;
  scaled.track = "scaled";
  {
    const auto journal = BenchJournal::open(scratch.path, scaled, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(1, {"run_a", {"x"}}));
  }
  CHECK(read_journal(scratch.path)->identity.track == "scaled");
  CHECK(BenchJournal::open(scratch.path, kIdentity, true)
            .error()
            .message.find("track is \"scaled\" there and missing here") != std::string::npos);
  CHECK(BenchJournal::open(scratch.path, scaled, true));
}

TEST_CASE("benches have the order of the command, which a resumed bench may change") {
  ScratchFolder scratch;
  BenchIdentity first = kIdentity, second = kIdentity;
  first.place = 1;
  second.place = 2;
  for (const auto& [folder, identity] :
       {std::pair{"z", first}, std::pair{"a", second}, std::pair{"old", kIdentity}})
    REQUIRE(BenchJournal::open(scratch.path / folder, identity, false));
  const auto found = find_benches(scratch.path);
  REQUIRE(found);
  std::string names;
  for (const RecordedBench& one : *found) names += one.directory.filename().string() + " ";
  CHECK(names == "old z a ");
  CHECK(BenchJournal::open(scratch.path / "a", first, true));
  CHECK(BenchJournal::open(scratch.path / "old", first, true));
  CHECK(BenchJournal::open(scratch.path / "z", kIdentity, true));
}

TEST_CASE("a journal is open for one bench at a time") {
  ScratchFolder scratch;
  const auto journal = BenchJournal::open(scratch.path, kIdentity, false);
  REQUIRE(journal);
  const auto second = BenchJournal::open(scratch.path, kIdentity, true);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::unavailable);
  CHECK(second.error().message.find("in use by another bench") != std::string::npos);
}

TEST_CASE("a journal is read without being changed") {
  ScratchFolder scratch;
  CHECK(read_journal(scratch.path).error().code == ErrorCode::not_found);
  {
    const auto journal = BenchJournal::open(scratch.path, kIdentity, false);
    REQUIRE(journal);
    REQUIRE((*journal)->add_run(2, {"run_a", {"x", "y"}}));
    agents::Attempt failed;
    failed.outcome = "fail";
    failed.error_kind = "wrong_result";
    REQUIRE((*journal)->add_finished(2, "x", failed, 1500, "step 3: other"));
  }
  { std::ofstream(scratch.path / "journal.jsonl", std::ios::app) << R"({"kind":"finis)"; }
  const auto size = std::filesystem::file_size(scratch.path / "journal.jsonl");
  const auto content = read_journal(scratch.path);
  REQUIRE(content);
  CHECK(std::filesystem::file_size(scratch.path / "journal.jsonl") == size);
  CHECK(content->identity.model == "openai:gpt-5");
  CHECK(content->identity.samples == 2);
  CHECK(content->runs.at(2).operators.size() == 2);
  const JournalledEnd& end = content->finished.at({2, "x"});
  CHECK(end.error_kind == "wrong_result");
  CHECK(end.wall_ms == 1500);
  CHECK(end.replay == "step 3: other");
}

using namespace assay;
using namespace assay::bench;

namespace {

void record(const std::filesystem::path& directory, const std::vector<std::string>& operators) {
  const auto journal =
      BenchJournal::open(directory, {"one_shot", "sim:7", "all", "cpu", "", "/s.db", 1}, false);
  REQUIRE(journal);
  REQUIRE((*journal)->add_run(1, {"run_a", operators}));
}

JournalledEnd end_of(const std::string& outcome, const std::string& kind,
                     const std::string& replay = "") {
  return {outcome, kind, "", replay, 0, 0};
}

}  // namespace

TEST_CASE("recorded benches are found in a folder or in its sub-folders") {
  ScratchFolder scratch;
  CHECK(find_recorded(scratch.path).error().code == ErrorCode::not_found);
  record(scratch.path / "b", {"x", "y"});
  record(scratch.path / "a", {"x", "y"});
  const auto both = find_recorded(scratch.path);
  REQUIRE(both);
  REQUIRE(both->size() == 2);
  CHECK(both->front().directory.filename() == "a");
  CHECK(recorded_suite(both->front().journal) == "x,y");
  CHECK(find_recorded(scratch.path / "b")->size() == 1);
  record(scratch.path / "c", {"x"});
  CHECK(find_recorded(scratch.path).error().message.find("other operators or samples") !=
        std::string::npos);
}

TEST_CASE("a replay never writes where it reads") {
  ScratchFolder scratch;
  BenchOptions options;
  options.replay = (scratch.path / "b/").string();
  CHECK(*replay_directory(options) == std::filesystem::weakly_canonical(scratch.path / "b.replay"));
  for (const std::filesystem::path& bad :
       {scratch.path / "b", scratch.path / "b/new", scratch.path, scratch.path / "x/../b/y"}) {
    options.out = bad.string();
    INFO(options.out);
    REQUIRE_FALSE(replay_directory(options));
    CHECK(replay_directory(options).error().code == ErrorCode::invalid_argument);
  }
  options.out = (scratch.path / "bb").string();
  CHECK(replay_directory(options));
}

TEST_CASE("each attempt that differs from the recorded one is named") {
  JournalContent recorded;
  JournalContent replayed;
  recorded.finished[{1, "same"}] = end_of("pass", "none");
  replayed.finished[{1, "same"}] = end_of("pass", "none");
  recorded.finished[{1, "flipped"}] = end_of("fail", "wrong_result");
  replayed.finished[{1, "flipped"}] = end_of(
      "pass", "none", "step 3: run_tests ended in fail (wrong_result) there and in pass here");
  recorded.finished[{1, "steps"}] = end_of("pass", "none");
  replayed.finished[{1, "steps"}] = end_of("pass", "none", "step 2: profile here, the end there");
  recorded.finished[{2, "lost"}] = end_of("pass", "none");
  replayed.finished[{2, "lost"}] =
      end_of("no_reply", "", "the transcript has no reply to request 1");
  replayed.finished[{2, "new"}] = end_of("fail", "timeout");
  recorded.finished[{3, "later"}] = end_of("pass", "none");  // this attempt is not replayed yet
  const ReplayOutcome outcome = compare_replay(recorded, replayed);
  CHECK(outcome.same == 1);
  CHECK(outcome.other == 3);
  CHECK(outcome.no_reply == 1);
  CHECK(outcome.text.find("flipped #1: fail (wrong_result) there, pass here; step 3") !=
        std::string::npos);
  CHECK(outcome.text.find("steps #1: step 2: profile here") != std::string::npos);
  CHECK(outcome.text.find("lost #2: the transcript has no reply to request 1") !=
        std::string::npos);
  CHECK(outcome.text.find("new #2: not finished there, fail (timeout) here") != std::string::npos);
  CHECK(outcome.text.find("1 of 5 attempts went as recorded, 3 otherwise, 1 had no reply") !=
        std::string::npos);
}
