// Tests the figures of an evaluation's result, on verdicts that a GPU could have given.
#include "server/evaluate/evaluation_result.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/evaluate/policies.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using nlohmann::json;
using sandbox::CaseRecord;
using sandbox::Outcome;

/// A case that the submission runs in `ns`, and PyTorch in 1,000 ns.
CaseRecord record_of(const std::string& id, double ns, double cost_bytes = 1e6) {
  CaseRecord record;
  record.id = id;
  record.outcome = Outcome::pass;
  record.cost_bytes = cost_bytes;
  if (ns > 0) record.latency.emplace().median_ns = ns;
  record.pytorch_ns = 1'000;
  record.floor_ns = 100;
  return record;
}

class Results {
 public:
  json of(std::vector<CaseRecord> cases, Outcome outcome = Outcome::pass) {
    auto verdict = std::make_shared<sandbox::Verdict>();
    verdict->job = "job_1";
    verdict->kind = sandbox::JobKind::grade;
    verdict->operator_name = "vector_add";
    verdict->outcome = outcome;
    verdict->error_kind =
        outcome == Outcome::pass ? sandbox::ErrorKind::none : sandbox::ErrorKind::hidden_case;
    verdict->tells_hidden = true;
    verdict->cases = std::move(cases);
    tools::JobStatus status;
    status.job = verdict->job;
    status.state = tools::JobState::finished;
    status.verdict = std::move(verdict);
    return result_of(*services.catalog, {}, status);
  }
  json rewards(std::vector<CaseRecord> cases, const std::string& expression) {
    json result = of(std::move(cases));
    add_rewards(result, RewardPolicies::choose({{"own", expression}}).value());
    return result["rewards"]["own"];
  }

  testing::ServicesFixture services;
};

}  // namespace

TEST_CASE("the ratio to PyTorch is over all cases that are large enough to be timed") {
  Results results;
  const json both = results.of({record_of("small", 500), record_of("half", 2'000)});
  CHECK(both["pytorch"] == 1.0);
  CHECK(both["sol"] == 0.1);
  const json with_a_tiny_one =
      results.of({record_of("small", 0, 10), record_of("half", 500)});  // no times are due
  CHECK(with_a_tiny_one["pytorch"] == 2.0);
}

TEST_CASE("a submission cannot choose the cases of a ratio by times that contradict each other") {
  Results results;
  // The times of `half`, where the submission is slow, are not trusted. Until this test was
  // written, the ratio was that of `small` alone, and so was the reward.
  const json one = results.of({record_of("small", 500), record_of("half", 0)});
  CHECK(one["pytorch"].is_null());
  CHECK(one["sol"].is_null());
  CHECK(results.rewards({record_of("small", 500), record_of("half", 0)}, "speedup") == 0.0);
  CHECK(results.rewards({record_of("small", 500), record_of("half", 500)}, "speedup") == 2.0);
}

TEST_CASE("the share of own kernels is over all timed cases, or null") {
  Results results;
  CaseRecord half = record_of("half", 500), small = record_of("small", 500);
  half.own_share = 0.5;
  small.own_share = 1.0;
  CHECK(results.of({small, half})["own_share"] == 0.75);
  CHECK(results.of({small, half})["pytorch"].is_number());
  // With so many operations that there is no timeline, a submission could leave out a case in which
  // torch copies most of the time.
  half.own_share.reset();
  CHECK(results.of({small, half})["own_share"].is_null());
  half.own_share = 0.5;
  half.latency.reset();
  CHECK(results.of({small, half})["own_share"].is_null());
}

TEST_CASE("a grade that failed on a hidden case has no ratio") {
  Results results;
  CaseRecord hidden = record_of("secret", 0);
  hidden.hidden = true;
  hidden.outcome = Outcome::fail;
  const json failed = results.of({record_of("small", 500), hidden}, Outcome::fail);
  CHECK(failed["pytorch"].is_null());
  CHECK(failed["sol"].is_null());
}

}  // namespace assay::server
