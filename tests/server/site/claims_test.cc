#include "server/site/claims.h"

#include "server/site/write_data.h"
#include "tests/catch.h"
#include "tests/server/bundle/example_bundle.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::site;

namespace {

using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Verdict;

Verdict verdict_of(Outcome outcome, ErrorKind kind = ErrorKind::none) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.error_kind = kind;
  verdict.tier = sandbox::Tier::interpreter;
  verdict.provenance.device_name = "NVIDIA H200";
  return verdict;
}

Verdict timed(double perf, const std::string& device = "NVIDIA H200") {
  Verdict verdict = verdict_of(Outcome::pass);
  verdict.tier = sandbox::Tier::plan;
  verdict.perf = perf;
  verdict.provenance.device_name = device;
  return verdict;
}

struct KeptParts final : DataSink {
  Status put(const std::string& name, const std::string& text) override {
    parts[name] = nlohmann::json::parse(text);
    return {};
  }
  std::map<std::string, nlohmann::json> parts;
};

}  // namespace

TEST_CASE("a claim is verified by the same result, and disputed only by a wrong one") {
  const Verdict pass = verdict_of(Outcome::pass);
  const Verdict wrong = verdict_of(Outcome::fail, ErrorKind::wrong_result);
  const Verdict late = verdict_of(Outcome::error, ErrorKind::timeout);
  CHECK(check_claim(pass, pass).state == CheckState::verified);
  CHECK(check_claim(pass, wrong).state == CheckState::disputed);
  CHECK(check_claim(pass, late).state == CheckState::claimed);
  CHECK(check_claim(wrong, wrong).state == CheckState::verified);
  CHECK(check_claim(wrong, pass).state == CheckState::disputed);
  CHECK(check_claim(wrong, late).state == CheckState::claimed);
  CHECK(check_claim(pass, verdict_of(Outcome::error, ErrorKind::canary_violation)).state ==
        CheckState::disputed);
  Verdict nothing = pass;  // a device that judges nothing verifies nothing
  nothing.tier = sandbox::Tier::none;
  CHECK(check_claim(pass, nothing).state == CheckState::claimed);
}

TEST_CASE("a claimed Perf is verified only by a time on a device of the same name") {
  CHECK(check_claim(timed(1.0), timed(0.95)).state == CheckState::verified);
  CHECK(check_claim(timed(1.0), timed(3.0)).state == CheckState::verified);
  CHECK(check_claim(timed(2.0), timed(1.0)).state == CheckState::disputed);
  CHECK(check_claim(timed(2.0), timed(2.0, "NVIDIA A100")).state == CheckState::claimed);
  CHECK(check_claim(timed(2.0), verdict_of(Outcome::pass)).state == CheckState::claimed);
}

TEST_CASE("the run of a bundle is a line of its own, which a check can rank") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  const bundle::RunBundle claimed = bundle::test::example_bundle();
  REQUIRE(write_claimed_store(claimed, folder.path() / "1.db"));
  REQUIRE(write_claimed_store(claimed, folder.path() / "2.db"));
  const std::string& job = claimed.jobs[0].job;
  using Reasons = std::vector<std::string>;
  const std::vector<std::pair<CheckState, Reasons>> expected = {
      {CheckState::claimed, {"claimed"}},
      {CheckState::verified, {}},
      {CheckState::disputed, {"disputed"}}};
  for (const auto& [state, reasons] : expected) {
    KeptParts sink;
    // The same run in a store of one's own never becomes a sample of the claimed line.
    REQUIRE(write_data({},
                       {{.path = folder.path() / "1.db"},
                        {.path = folder.path() / "2.db",
                         .origin = "key",
                         .checks = {{job, Check{state, "<note>"}}}}},
                       {&catalog}, sink));
    const nlohmann::json& groups = sink.parts.at("index")["groups"];
    REQUIRE(groups.size() == 2);
    CHECK(groups[0]["origin"] == "");
    CHECK(groups[0]["unranked"] == Reasons{});
    CHECK(groups[1]["origin"] == "key");
    CHECK(groups[1]["unranked"] == reasons);
    const std::string row = sink.parts.at("attempts-0")[1].dump();
    CHECK(row.find("\"" + std::string(to_string(state)) + "\"") != std::string::npos);
    CHECK(row.find("<note>") != std::string::npos);
  }
}

TEST_CASE("a claimed run is never the base of comparisons, whatever its age") {
  const testing::TemporaryFolder folder;
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  bundle::RunBundle run = bundle::test::example_bundle();
  run.run.created_unix_ms = 0;
  REQUIRE(write_claimed_store(run, folder.path() / "claimed.db"));
  run.run.created_unix_ms = 9;
  REQUIRE(write_claimed_store(run, folder.path() / "own.db"));
  KeptParts sink;
  REQUIRE(write_data(
      {},
      {{.path = folder.path() / "claimed.db", .origin = "key"}, {.path = folder.path() / "own.db"}},
      {&catalog}, sink));
  const nlohmann::json& groups = sink.parts.at("index")["groups"];
  REQUIRE(groups.size() == 2);
  CHECK(groups[0]["origin"] == "key");
  CHECK(groups[0]["difference"].is_null());
  CHECK(groups[1]["difference"].is_null());  // it is the base
}
