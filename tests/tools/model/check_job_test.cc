#include "tools/model/check_job.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using assay::tools::add_profile_of_check;

namespace {

/// A profile with a time of the case "timed".
Verdict profiled_verdict() {
  Verdict verdict;
  verdict.profile.emplace();
  verdict.kernels.emplace_back().name = "of the profile";
  verdict.hints.push_back({HintKind::not_deterministic, "", "both have it"});
  verdict.hints.push_back({HintKind::oracle_not_timed, "", "only the profile has it"});
  CaseRecord& timed = verdict.cases.emplace_back();
  timed.id = "timed";
  timed.latency.emplace().median_ns = 5;
  verdict.cases.emplace_back().id = "untimed";
  verdict.cases.back().reason = "of the profile";
  verdict.stage_ms = {{"launch", 3}, {"profile", 4}};
  verdict.launch.emplace().add(LaunchPart::map, 2);
  verdict.launch->new_contexts = 1;
  verdict.gpu_alone_ms = 6;
  return verdict;
}

Verdict tested_verdict() {
  Verdict verdict;
  verdict.kernels.emplace_back().name = "of the test";
  verdict.hints.push_back({HintKind::not_deterministic, "", "both have it"});
  verdict.cases.emplace_back().id = "timed";
  verdict.cases.emplace_back().id = "untimed";
  verdict.stage_ms = {{"launch", 10}};
  return verdict;
}

}  // namespace

TEST_CASE("a check gets the figures of its profile, and the times of both jobs are added") {
  Verdict tested = tested_verdict();
  tested.launch.emplace().add(LaunchPart::map, 20);
  tested.launch->kept_contexts = 1;
  tested.gpu_alone_ms = 1;
  add_profile_of_check(tested, profiled_verdict());
  CHECK(tested.profile);
  REQUIRE(tested.kernels.size() == 1);
  CHECK(tested.kernels[0].name == "of the profile");
  CHECK(tested.hints.size() == 2);
  REQUIRE(tested.cases.size() == 2);
  REQUIRE(tested.cases[0].latency);
  CHECK(tested.cases[0].latency->median_ns == 5);
  CHECK(tested.cases[1].reason.empty());
  CHECK(tested.stage_ms["launch"] == 13);
  CHECK(tested.stage_ms["profile"] == 4);
  CHECK(tested.launch->ms["map"] == 22);
  CHECK(tested.launch->new_contexts == 1);
  CHECK(tested.launch->kept_contexts == 1);
  CHECK(tested.gpu_alone_ms == 7);

  Verdict without = tested_verdict();  // its test used no launcher
  add_profile_of_check(without, profiled_verdict());
  REQUIRE(without.launch);
  CHECK(without.launch->ms["map"] == 2);
  CHECK(without.gpu_alone_ms == 6);
}

TEST_CASE("a profile that failed changes nothing of a check") {
  Verdict tested = tested_verdict(), failed = profiled_verdict();
  failed.profile.reset();
  add_profile_of_check(tested, failed);
  CHECK_FALSE(tested.profile);
  CHECK(tested.kernels[0].name == "of the test");
  CHECK(tested.hints.size() == 1);
  CHECK_FALSE(tested.cases[0].latency);
  CHECK(tested.stage_ms["launch"] == 10);
  CHECK_FALSE(tested.launch);
  CHECK_FALSE(tested.gpu_alone_ms);
}
