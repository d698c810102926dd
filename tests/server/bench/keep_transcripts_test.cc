#include "server/bench/keep_transcripts.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "server/bench/run.h"
#include "tests/catch.h"
#include "tests/server/bench/scratch_folder.h"
#include "tests/server/store/stored_job.h"

using namespace assay;
using namespace assay::bench;

TEST_CASE("a file that is no transcript does not stop the transcripts after it") {
  const ScratchFolder scratch;
  const auto store =
      server::Store::open(scratch.path / "s.db", server::StoreMode::read_write).value();
  tools::RunInfo run = server::stored::run_of();
  run.operators = {"a", "b", "c", "d"};
  REQUIRE(store->insert_run(run, ""));
  RecordedBench bench;
  bench.directory = scratch.path;
  bench.journal.runs[1] = {run.handle, run.operators, {}};
  const std::string note = "{\"kind\":\"note\",\"text\":\"x\"}\n";
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::filesystem::path path = transcript_path(scratch.path, 1, name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  };
  write("a", "no JSON\n");
  write("b", note + "{\"kind\":");  // its last line is incomplete
  write("c", std::string(1'000, 'x'));
  transcripts::TranscriptLimits limits;
  limits.file_bytes = 500;
  const auto kept = keep_transcripts(*store, bench, system_clock(), limits);
  REQUIRE(kept);
  CHECK(kept->kept == 1);
  REQUIRE(kept->refused.size() == 2);
  CHECK(kept->refused[0].find(transcript_path(scratch.path, 1, "a").string()) == 0);
  CHECK(kept->refused[1].find("more than 500 bytes") != std::string::npos);
  CHECK(store->transcript(run.handle, "b")->has_value());
  CHECK_FALSE(store->transcript(run.handle, "a")->has_value());

  bench.journal.runs[1].run = "run_none";
  CHECK(keep_transcripts(*store, bench, system_clock(), limits).error().code ==
        ErrorCode::not_found);
}
