#include "server/site/groups.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::site;

namespace {

SiteRun run_of(const std::string& agent, const std::string& device) {
  SiteRun run;
  run.info.request = {agent, "openai:m", tools::Track::one_shot, "all"};
  run.info.operators = {"a", "b"};
  run.device_class = device;
  return run;
}

report::Report report_of(const std::string& model, tools::Track track, sandbox::Tier tier) {
  tools::Scorecard card;
  card.run.request = {"agent", model, track, "all"};
  tools::OperatorScore score;
  score.operator_name = "a";
  score.submitted = true;
  sandbox::Verdict verdict;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.tier = tier;
  score.verdict = verdict;
  card.operators = {score};
  return report::make_report(card);
}

}  // namespace

TEST_CASE("runs of one agent on one device are a group, and other operators are another") {
  std::vector<SiteRun> runs = {run_of("a", "NVIDIA H200"), run_of("b", "NVIDIA H200"),
                               run_of("a", "NVIDIA H200"), run_of("a", "cpu"),
                               run_of("a", "NVIDIA H200")};
  runs[4].info.operators = {"a"};
  CHECK(group_runs(runs) == std::vector<std::vector<std::size_t>>{{0, 2}, {1}, {3}, {4}});
  runs[2].info.suite_id.digest = "other";
  CHECK(group_runs(runs).size() == 5);
}

TEST_CASE("what has no model, is practice or used the host tier is never ranked") {
  using sandbox::Tier;
  using tools::Track;
  using Reasons = std::vector<std::string>;
  CHECK(why_unranked(report_of("openai:m", Track::one_shot, Tier::plan), {}).empty());
  CHECK(why_unranked(report_of("sim:7 (no model)", Track::one_shot, Tier::plan), {}) ==
        Reasons{"no_model"});
  CHECK(why_unranked(report_of("openai:m", Track::practice, Tier::plan), {}) ==
        Reasons{"practice"});
  CHECK(why_unranked(report_of("openai:m", Track::one_shot, Tier::host), {}) ==
        Reasons{"host_tier"});
}
