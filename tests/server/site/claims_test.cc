#include "server/site/claims.h"

#include "server/site/write_data.h"
#include "tests/catch.h"
#include "tests/server/bundle/example_bundle.h"
#include "tests/tools/fixture.h"
#include "tools/model/operator_job.h"

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

/// A GPU that cannot judge any source, and replays each plan with the result that it was given.
struct ReplayingDevice final : sandbox::Device {
  sandbox::DeviceInfo info() const override {
    return {.name = "cuda:0", .description = "", .default_target = "cuda:90"};
  }
  Verdict execute(const sandbox::Job& job, sandbox::JobMonitor&) override {
    if (job.plans.empty()) return verdict_of(Outcome::error, ErrorKind::compilation_error);
    replayed = job;
    return result;
  }
  Verdict result = verdict_of(Outcome::pass);
  std::optional<sandbox::Job> replayed = {};
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

TEST_CASE("launch plans are replayed where the source cannot be judged") {
  const operators::Catalog catalog =
      operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators").value();
  bundle::RunBundle claimed = bundle::test::example_bundle();
  claimed.run.suite_id = catalog.suite();
  // The plans are those of a call before the submission, with the same source.
  bundle::BundledJob call = claimed.jobs[0];
  call.kind = sandbox::JobKind::compile;
  const std::string id =
      tools::operator_job(*catalog.find("vector_add"), sandbox::JobKind::test, "").cases[0].id;
  call.plans = {{id + " cuda:90", "right"}, {id + " cuda:80", "x"}, {"none cuda:90", "x"}};
  claimed.jobs[0].plans.clear();
  claimed.jobs.push_back(call);
  const auto judge = [&](ReplayingDevice& device) {
    const JudgedClaims claims = judge_claims(claimed, catalog, device, {}, nullptr);
    return claims.checks.at(claimed.jobs[0].job);
  };
  ReplayingDevice device;
  device.result.tier = sandbox::Tier::plan;
  Check check = judge(device);
  CHECK(check.state == CheckState::claimed);
  CHECK(check.note.find("1 public case give right results here") != std::string::npos);
  REQUIRE(device.replayed);
  CHECK(device.replayed->plans == std::map<std::string, std::string>{{id, "right"}});
  CHECK(device.replayed->source.empty());
  CHECK(device.replayed->cases.size() == 1);
  device.result = verdict_of(Outcome::fail, ErrorKind::wrong_result);
  check = judge(device);
  CHECK(check.state == CheckState::disputed);
  CHECK(check.note.find("wrong_result") != std::string::npos);
  device.result = verdict_of(Outcome::error, ErrorKind::unsupported);  // as the device fake says
  CHECK(judge(device).state == CheckState::claimed);
  CHECK(judge(device).note.find("plans") == std::string::npos);
  // A plan of another source says nothing about this one.
  claimed.jobs[1].source += "# changed\n";
  device.replayed.reset();
  CHECK(judge(device).state == CheckState::claimed);
  CHECK_FALSE(device.replayed);
}
