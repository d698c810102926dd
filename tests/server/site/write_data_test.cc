#include "server/site/write_data.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "server/site/attempt.h"
#include "tests/catch.h"
#include "tests/server/store/stored_job.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::site;

namespace {

/// Keeps the parts as JSON.
struct MapSink final : DataSink {
  Status put(const std::string& name, const std::string& json) override {
    parts[name] = nlohmann::json::parse(json);
    return {};
  }
  std::map<std::string, nlohmann::json> parts;
};

constexpr const char* kHostile = "</script><script>alert(1)</script>\xff";

/// Makes a store with two runs of an agent. Each has one right submission of vector_add.
void fill(const std::filesystem::path& path) {
  const auto store = server::Store::open(path, server::StoreMode::read_write).value();
  for (const std::int64_t created : {2, 1}) {
    tools::RunInfo run = server::stored::run_of();
    run.request.agent = kHostile;
    run.created_unix_ms = created;
    REQUIRE(store->insert_run(run, ""));
    sandbox::Job job = server::stored::job_of("x = '" + std::string(kHostile) + "'\n");
    job.run = run.handle;
    REQUIRE(store->accept(job, "cuda:0", {}, 10));
    sandbox::Verdict verdict = server::stored::verdict_of(job);
    verdict.provenance.device_name = "NVIDIA H200";
    sandbox::CaseRecord record;
    record.id = "small";
    record.outcome = sandbox::Outcome::pass;
    record.latency.emplace().samples_ns = {1, 2, 3};
    verdict.cases = {record};
    REQUIRE(store->finish(job.id, tools::JobState::finished, verdict, false, 20));
    transcripts::TranscriptStep step;
    step.text = kHostile;
    REQUIRE(store->put_transcript(run.handle, job.operator_name,
                                  transcripts::transcript_text({{step, step}, 0}), 20));
  }
}

}  // namespace

TEST_CASE("the data of a store has its groups, its attempts and their details") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  fill(folder.path() / "s.db");
  DataOptions options;
  options.title = "T";
  options.attempts_per_part = 3;
  options.details_part_bytes = 1;
  std::size_t amended = 0;
  options.amend = [&amended](report::Report&) -> Status {
    ++amended;
    return {};
  };
  MapSink sink;
  const auto written = write_data(options, {{.path = folder.path() / "s.db"}}, {&catalog}, sink);
  REQUIRE(written);
  CHECK(written->runs == 2);
  CHECK(written->groups == 1);
  CHECK(written->attempts == 4);  // two operators in two runs
  CHECK(amended == 1);
  const nlohmann::json& index = sink.parts.at("index");
  CHECK(index["format"] == kDataFormat);
  CHECK(index["attempt_parts"] == nlohmann::json{3, 1});
  CHECK(index["details_parts"] == 3);  // two attempts have no calls and share their details
  const nlohmann::json& group = index["groups"][0];
  CHECK(group["device_class"] == "NVIDIA H200");
  CHECK(group["difference"].is_null());
  CHECK(group["report"]["run"]["agent"].get<std::string>().find("</script>") == 0);
  CHECK(group["samples"][0]["created_unix_ms"] == 1);  // oldest first
  CHECK(index["attempt_columns"] == attempt_columns());
  CHECK(sink.parts.at("attempts-0")[0].size() <= attempt_columns().size());
  CHECK_FALSE(sink.parts.at("attempts-0")[0].back().is_null());
  std::size_t graded = 0;
  for (int part = 0; part < 3; ++part) {
    const nlohmann::json entry = sink.parts.at("details-" + std::to_string(part))[0];
    if (entry["calls"].empty()) continue;
    ++graded;
    CHECK(entry["calls"][0]["elapsed_ms"] == 1'000);  // the time of a grade in whole seconds
    CHECK_FALSE(entry["calls"][0]["verdict"]["cases"][0]["latency"].contains("samples_ns"));
    CHECK(entry["sources"][0]["text"].get<std::string>().find("</script>") == 5);
  }
  CHECK(graded == 2);
}

TEST_CASE("only the named runs are written, and an unknown run is an error") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  fill(folder.path() / "s.db");
  MapSink sink;
  const auto unknown = write_data(
      {}, {{folder.path() / "s.db", std::vector<std::string>{"run_nope"}}}, {&catalog}, sink);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message.find("run_nope") != std::string::npos);
  CHECK(sink.parts.empty());
}

TEST_CASE("without a run, only the data of a live server is written") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  fill(folder.path() / "s.db");
  const std::vector<DataStore> nothing = {{folder.path() / "s.db", std::vector<std::string>()}};
  MapSink sink;
  CHECK(write_data({}, nothing, {&catalog}, sink).error().code == ErrorCode::not_found);
  DataOptions options;
  options.live = LiveData{7, "r", 2};
  REQUIRE(write_data(options, nothing, {&catalog}, sink));
  CHECK(sink.parts.at("index")["groups"].empty());
  CHECK(sink.parts.at("index")["live"] ==
        nlohmann::json{{"snapshot", 7}, {"revision", "r"}, {"runs_left_out", 2}});
}

TEST_CASE("a live server cuts a transcript, and a transcript that does not parse is missing") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  fill(folder.path() / "s.db");
  DataOptions options;
  options.live = LiveData{1, "r", 0};
  options.live->transcript_bytes = 50;
  MapSink sink;
  REQUIRE(write_data(options, {{.path = folder.path() / "s.db"}}, {&catalog}, sink));
  const nlohmann::json& shown = sink.parts.at("details-0")[1]["transcript"];
  CHECK(shown["steps"].size() == 1);
  CHECK(shown["left_out"] == 1);
  {
    const auto store = server::Store::open(folder.path() / "s.db", server::StoreMode::read_write);
    const std::string run = (*store)->runs()->front().handle;
    REQUIRE((*store)->put_transcript(run, "vector_add", "[]", 1));
  }
  for (const bool live : {false, true}) {
    options.live.reset();
    if (live) options.live = LiveData{1, "r", 0};
    MapSink other;
    REQUIRE(write_data(options, {{.path = folder.path() / "s.db"}}, {&catalog}, other));
    std::size_t shown_transcripts = 0;
    for (const nlohmann::json& entry : other.parts.at("details-0"))
      shown_transcripts += entry["transcript"].is_object() ? 1 : 0;
    CHECK(shown_transcripts == 1);  // that of the other run
  }
}

TEST_CASE("an attempt with an imported verdict says so, and equal details are written once") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  {
    const auto store =
        server::Store::open(folder.path() / "s.db", server::StoreMode::read_write).value();
    std::vector<server::ImportedRun> runs(2);
    for (server::ImportedRun& run : runs) {
      run.info = server::stored::run_of();
      run.provenance = "a file";
      sandbox::Job job = server::stored::job_of("");
      job.run = run.info.handle;
      run.jobs.push_back({job, "cuda:0", server::stored::verdict_of(job)});
    }
    REQUIRE(store->add_imported_runs("0123", [&runs]() -> std::optional<server::ImportedRun> {
      if (runs.empty()) return std::nullopt;
      server::ImportedRun next = std::move(runs.back());
      runs.pop_back();
      return next;
    }));
  }
  MapSink sink;
  REQUIRE(write_data({}, {{.path = folder.path() / "s.db"}}, {&catalog}, sink));
  const std::vector<std::string> columns = attempt_columns();
  const auto check = static_cast<std::size_t>(std::find(columns.begin(), columns.end(), "check") -
                                              columns.begin());
  REQUIRE(check < columns.size());
  const nlohmann::json& rows = sink.parts.at("attempts-0");
  REQUIRE(rows.size() == 4);
  for (const nlohmann::json& row : rows) CHECK(row[check] == "imported");
  CHECK(sink.parts.at("details-0").size() < rows.size());
}

TEST_CASE("sources that are not shown leave no text that could quote them") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  fill(folder.path() / "s.db");
  for (const ShownSources sources : {ShownSources::none, ShownSources::models}) {
    DataOptions options;
    options.sources = sources;
    MapSink sink;
    REQUIRE(write_data(options, {{.path = folder.path() / "s.db"}}, {&catalog}, sink));
    CHECK(sink.parts.at("index")["sources"] == to_string(sources));
    const bool shows = sources == ShownSources::models;
    for (const nlohmann::json& entry : sink.parts.at("details-0")) {
      CHECK(entry["transcript"].is_object() == (shows && !entry["calls"].empty()));
      for (const nlohmann::json& source : entry["sources"])
        CHECK(source["text"].is_string() == shows);
      for (const nlohmann::json& call : entry["calls"])
        CHECK(call["verdict"].contains("stdout") == shows);
    }
  }
  CHECK(shown_sources_from("own").error().message.find("models, none, all") != std::string::npos);
  CHECK(shown_sources_from("all").value() == ShownSources::all);
}
