#include "server/site/groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace assay::site {

std::vector<std::vector<std::size_t>> group_runs(const std::vector<SiteRun>& runs) {
  using Key =
      std::tuple<std::string, std::string, tools::Track, std::string, std::string, std::string,
                 std::vector<std::string>, std::string, std::string, std::string>;
  std::map<Key, std::size_t> places;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const tools::RunInfo& run = runs[i].info;
    const Key key{run.request.agent, run.request.model,    run.request.track,
                  run.suite_id.name, run.suite_id.version, run.suite_id.digest,
                  run.operators,     runs[i].device_class, runs[i].origin,
                  runs[i].provenance};
    const auto [place, is_new] = places.emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(i);
  }
  return groups;
}

std::vector<std::string> why_unranked(const report::Report& report,
                                      const std::vector<Check>& checks) {
  std::vector<std::string> reasons;
  if (report.scripted()) reasons.emplace_back("no_model");
  if (report.run.request.track == tools::Track::practice) reasons.emplace_back("practice");
  const bool has_host_tier =
      std::any_of(report.rows.begin(), report.rows.end(), [](const report::ReportRow& row) {
        return row.verdict && row.verdict->outcome == sandbox::Outcome::pass &&
               row.verdict->tier == sandbox::Tier::host;
      });
  if (has_host_tier) reasons.emplace_back("host_tier");
  if (report.suites.size() > 1) reasons.emplace_back("several_suites");
  bool is_claimed = false, is_disputed = false;
  for (std::size_t i = 0; i < checks.size() && i < report.rows.size(); ++i) {
    const report::ReportRow& row = report.rows[i];
    const bool is_right = row.verdict && row.verdict->outcome == sandbox::Outcome::pass;
    is_disputed = is_disputed || checks[i].state == CheckState::disputed;
    is_claimed = is_claimed || (is_right && checks[i].state == CheckState::claimed);
  }
  if (is_disputed) reasons.emplace_back("disputed");
  if (is_claimed) reasons.emplace_back("claimed");
  return reasons;
}

}  // namespace assay::site
