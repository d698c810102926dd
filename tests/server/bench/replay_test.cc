#include "server/bench/replay.h"

#include <filesystem>
#include <string>

#include "server/bench/options.h"
#include "tests/catch.h"
#include "tests/server/bench/scratch_folder.h"

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

TEST_CASE("a recorded bench is found by its folder, or several by theirs") {
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

TEST_CASE("attempts that do not go as recorded are named one by one") {
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
  recorded.finished[{3, "later"}] = end_of("pass", "none");  // not replayed yet
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
