#include "server/imports/verdict_file.h"

#include "base/json.h"
#include "server/store/check.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::imports;

namespace {

using nlohmann::json;

json example() {
  return {{"format", "assay.verdicts/1"},
          {"provenance", "Judged elsewhere."},
          {"suite", {{"name", "theirs"}, {"version", "1"}}},
          {"track", "one_shot"},
          {"device", "cuda:0"},
          {"device_name", "NVIDIA H200"},
          {"triton", "3.6.0"},
          {"torch", "2.11.0"},
          {"judged_unix_ms", 7},
          {"operators", {"a", "b", "c"}},
          {"runs",
           json::array(
               {{{"agent", "x"},
                 {"model", "m"},
                 {"verdicts", json::array({json::array({0, "none", "done", "plan"}),
                                           json::array({1, "wrong_result", "done", "none"}),
                                           json::array({2, nullptr})})}},
                {{"agent", "x"},
                 {"model", "n"},
                 {"verdicts", json::array({json::array({1, "key_error", "record", "none"})})}}})}};
}

Error refused(const std::function<void(json& file)>& change) {
  json file = example();
  change(file);
  const auto found = parse_verdict_file(file.dump());
  REQUIRE_FALSE(found);
  return found.error();
}

}  // namespace

TEST_CASE("a file of verdicts becomes runs without sources, marked with its provenance") {
  const testing::TemporaryFolder folder;
  const VerdictFile file = parse_verdict_file(example().dump()).value();
  {
    const auto store =
        server::Store::open(folder.path() / "s.db", server::StoreMode::read_write).value();
    CHECK(import_verdicts(*store, file, {}).value() == 2);
    const tools::RunInfo run = store->runs()->back();
    CHECK(run.request.model == "m");
    CHECK(run.operators == std::vector<std::string>{"a", "b", "c"});
    CHECK(run.suite_id == SuiteId{"theirs", "1", ""});
    CHECK(*store->provenance(run.handle) == "Judged elsewhere.");
    const std::vector<server::GradedJob> graded = store->graded(run.handle).value();
    REQUIRE(graded.size() == 2);  // "c" has no verdict
    CHECK(graded[0].verdict->outcome == sandbox::Outcome::pass);
    CHECK(graded[0].verdict->tier == sandbox::Tier::plan);
    CHECK(graded[1].verdict->outcome == sandbox::Outcome::fail);
    CHECK(store->source(graded[1].job)->empty());
    CHECK(*store->device_names(run.handle) == std::vector<std::string>{"NVIDIA H200"});
    const tools::RunInfo other = store->runs()->front();
    CHECK(store->graded(other.handle)->at(0).verdict->outcome == sandbox::Outcome::error);
    const Error unknown = import_verdicts(*store, file, {"<x>"}).error();
    CHECK(unknown.code == ErrorCode::not_found);
    CHECK(unknown.message.find("m, n") != std::string::npos);
    CHECK(store->runs()->size() == 2);
  }
  CHECK(server::check_store(folder.path() / "s.db")->problems.empty());
}

TEST_CASE("a file of verdicts is imported once, and as a whole or not at all") {
  const testing::TemporaryFolder folder;
  const auto store =
      server::Store::open(folder.path() / "s.db", server::StoreMode::read_write).value();
  const VerdictFile file = parse_verdict_file(example().dump()).value();
  CHECK(import_verdicts(*store, file, {"n"}).value() == 1);
  const Error again = import_verdicts(*store, file, {"n"}).error();
  CHECK(again.code == ErrorCode::invalid_argument);
  CHECK(again.message.find("imported before") != std::string::npos);
  // "m" is the first run of the file and new, but "n" is not.
  CHECK(import_verdicts(*store, file, {}).error().code == ErrorCode::invalid_argument);
  CHECK(store->runs()->size() == 1);
  CHECK(import_verdicts(*store, file, {"m"}).value() == 1);
  json other = example();
  other["judged_unix_ms"] = 8;
  CHECK(import_verdicts(*store, parse_verdict_file(other.dump()).value(), {}).value() == 2);
  CHECK(store->runs()->size() == 4);
}

TEST_CASE("a file of verdicts can be anything, and only a good one is read") {
  using Change = std::function<void(json&)>;
  for (const Change& change : std::initializer_list<Change>{
           [](json& file) { file = json::array(); },
           [](json& file) { file["format"] = "assay.verdicts/2"; },
           [](json& file) { file.erase("provenance"); },
           [](json& file) { file["suite"] = "x"; },
           [](json& file) { file["track"] = "x"; },
           [](json& file) { file["runs"][0]["model"] = "m\t"; },
           [](json& file) { file["judged_unix_ms"] = -1; },
           [](json& file) {
             file["operators"] = {"a", "a"};
           },
           [](json& file) { file["operators"] = {"a,b"}; },
           [](json& file) { file["runs"][0]["verdicts"] = json::array(); },
           [](json& file) { file["runs"][0]["verdicts"][0][0] = 3; },
           [](json& file) { file["runs"][0]["verdicts"][1][0] = 0; },
           [](json& file) { file["runs"][0]["verdicts"][0][1] = "x"; },
           [](json& file) {
             file["runs"][0]["verdicts"][0] = {0, "none"};
           },
       })
    CHECK(refused(change).code == ErrorCode::corrupt);
  for (const std::string text : {"", "null", "\xff"})
    CHECK(parse_verdict_file(text).error().code == ErrorCode::corrupt);
  CHECK(parse_verdict_file(std::string(100'000, '[')).error().code == ErrorCode::corrupt);
  CHECK(refused([](json& file) { file["runs"][0]["agent"] = std::string(513, 'x'); }).code ==
        ErrorCode::resource_exhausted);
  VerdictFileLimits limits;
  limits.runs = 1;
  CHECK(parse_verdict_file(example().dump(), limits).error().code == ErrorCode::resource_exhausted);
}
