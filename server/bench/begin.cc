#include "server/bench/begin.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

namespace assay::server {

Result<BenchJournals> open_journals(const BenchOptions& options, const BenchSetup& setup,
                                    const std::filesystem::path& store) {
  const bool begun =
      std::any_of(setup.pairs.begin(), setup.pairs.end(),
                  [](const ChosenPair& pair) { return has_journal(pair.directory); });
  BenchJournals journals;
  for (const ChosenPair& pair : setup.pairs) {
    const bool own_server = options.server.empty();
    const BenchIdentity identity{pair.agent_name, pair.model_name,
                                 setup.suite,     own_server ? options.device : "",
                                 options.server,  own_server ? store.string() : "",
                                 setup.samples,   pair.track};
    auto journal = BenchJournal::open(pair.directory, identity,
                                      options.resume && (!begun || has_journal(pair.directory)));
    if (!journal) return fail(journal.error());
    journals.push_back(std::move(*journal));
  }
  return journals;
}

BenchPlan make_plan(const BenchOptions& options, const BenchSetup& setup,
                    const BenchJournals& journals, const std::filesystem::path& agents_dir) {
  BenchPlan plan;
  for (std::size_t i = 0; i < setup.pairs.size(); ++i) {
    const ChosenPair& pair = setup.pairs[i];
    plan.pairs.push_back({pair.agent_name, pair.model_label, pair.agent,
                          pair.model == nullptr ? nullptr : pair.model->client.get(),
                          pair.model == nullptr ? std::nullopt : pair.model->price, pair.directory,
                          journals[i].get(), pair.recorded,
                          pair.track.empty() ? pair.agent.entry->track : pair.track});
    std::fprintf(stderr, "%s with %s; transcripts and journal in %s\n", pair.agent_name.c_str(),
                 pair.model_label.c_str(), pair.directory.c_str());
  }
  plan.agents_dir = agents_dir;
  plan.suite = setup.suite;
  plan.samples = setup.samples;
  plan.jobs = options.jobs;
  plan.max_cost_usd = options.max_cost_usd;
  if (!options.max_time.empty())
    plan.max_time = std::chrono::seconds(duration_from(options.max_time).value_or(0));
  return plan;
}

}  // namespace assay::server
