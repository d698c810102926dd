#include "server/bench/plan.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "base/stderr_line.h"
#include "reference_agents/registry/provider.h"
#include "server/bench/journal.h"
#include "server/report/model/label.h"
#include "tools/model/tracks.h"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;

Status check_no_repeat(const std::vector<std::string>& names, const std::string& flag) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      return fail(
          ErrorCode::invalid_argument,
          flag + " " + name + " is given twice; --samples makes several attempts of one pair");
  }
  return {};
}

/// Returns an error if the agent submits several versions of its source, but the track `name`
/// accepts only the first version.
Status check_track(const agents::AgentChoice& choice, const std::string& name) {
  const std::optional<tools::Track> track = tools::track_from(name);
  if (!track || !tools::rules_of(*track).locks_source || choice.entry->track == name) return {};
  return fail(ErrorCode::invalid_argument, "--track " + name +
                                               " takes one source per operator, and the agent " +
                                               choice.entry->name + " tries several");
}

/// Returns the operators for which all models have answers, because all pairs of a comparison must
/// have the same operators. Returns an empty list if every model can answer for any operator.
Result<std::vector<std::string>> answerable_by_all(
    const std::vector<std::unique_ptr<BenchModel>>& models) {
  std::optional<std::vector<std::string>> common;
  for (const auto& model : models) {
    const std::vector<std::string> known = model->client->known_operators();
    if (known.empty()) continue;
    if (!common) {
      common = known;
      continue;
    }
    std::vector<std::string> both;
    std::set_intersection(common->begin(), common->end(), known.begin(), known.end(),
                          std::back_inserter(both));
    if (both.empty())
      return fail(ErrorCode::invalid_argument,
                  "there is no operator that all these models can answer");
    common = std::move(both);
  }
  return common.value_or(std::vector<std::string>());
}

Status check_directories(const std::vector<BenchPair>& pairs) {
  std::set<fs::path> seen;
  for (const BenchPair& pair : pairs) {
    if (!seen.insert(pair.directory).second)
      return fail(ErrorCode::invalid_argument,
                  "two pairs of agent and model would share the folder " + pair.directory.string() +
                      "; run them as two benches");
  }
  return {};
}

/// Returns the part of the plan that depends only on the options: everything except the pairs.
BenchPlan plan_of(const BenchOptions& options, const fs::path& agents_dir) {
  BenchPlan plan;
  plan.agents_dir = agents_dir;
  plan.samples = options.samples;
  plan.jobs = options.jobs;
  plan.max_cost_usd = options.max_cost_usd;
  if (!options.max_time.empty())
    plan.max_time = std::chrono::seconds(duration_from(options.max_time).value_or(0));
  return plan;
}

}  // namespace

Result<BenchPlan> chosen_pairs(const BenchOptions& options, const operators::Catalog* catalog,
                               const fs::path& agents_dir) {
  if (options.models.empty())
    return fail(ErrorCode::invalid_argument,
                "--model is required: PROVIDER:NAME, e.g. anthropic:claude-sonnet-4-5 or sim:7");
  if (options.agents.size() * options.models.size() > kMostBenchPairs)
    return fail(ErrorCode::invalid_argument, "at most " + std::to_string(kMostBenchPairs) +
                                                 " pairs of agent and model fit one bench");
  if (Status once = check_no_repeat(options.agents, "--agent"); !once) return fail(once.error());
  if (Status once = check_no_repeat(options.models, "--model"); !once) return fail(once.error());
  BenchPlan plan = plan_of(options, agents_dir);
  agents::ProviderOptions provider;
  provider.data_dir = agents_dir;
  provider.operators_dir = options.suite;
  std::vector<agents::AgentChoice> choices;
  for (const std::string& name : options.agents) {
    Result<agents::AgentChoice> choice = agents::parse_agent(name);
    if (!choice) return fail(choice.error());
    if (Status fits = check_track(*choice, options.track); !fits) return fail(fits.error());
    choices.push_back(std::move(*choice));
  }
  for (const std::string& name : options.models) {
    auto client = agents::make_llm_client(name, provider);
    if (!client) return fail(client.error());
    plan.models.push_back(std::make_unique<BenchModel>(BenchModel{name, std::move(*client), {}}));
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const auto& model : plan.models) {
      BenchPair pair;
      pair.agent_name = options.agents[i];
      pair.agent = choices[i];
      pair.model_name = model->name;
      pair.model_label = model->client->label();
      pair.model = model.get();
      pair.directory = bench_directory(options, options.agents[i], model->name);
      pair.chosen_track = options.track;
      plan.pairs.push_back(std::move(pair));
    }
  }
  if (Status apart = check_directories(plan.pairs); !apart) return fail(apart.error());
  const Result<std::vector<std::string>> answerable = answerable_by_all(plan.models);
  if (!answerable) return fail(answerable.error());
  Result<std::string> suite = suite_of(options, catalog, *answerable);
  if (!suite) return fail(suite.error());
  plan.suite = std::move(*suite);
  return plan;
}

Result<BenchPlan> recorded_pairs(const BenchOptions& options, const fs::path& agents_dir) {
  const Result<std::vector<RecordedBench>> recorded = find_recorded(options.replay);
  if (!recorded) return fail(recorded.error());
  const Result<fs::path> out = replay_directory(options);
  if (!out) return fail(out.error());
  BenchPlan plan = plan_of(options, agents_dir);
  plan.samples = recorded->front().journal.identity.samples;
  plan.suite = recorded_suite(recorded->front().journal);
  for (const RecordedBench& bench : *recorded) {
    const BenchIdentity& identity = bench.journal.identity;
    Result<agents::AgentChoice> choice = agents::parse_agent(identity.agent);
    if (!choice) return fail(choice.error());
    BenchPair pair;
    pair.agent_name = identity.agent;
    pair.agent = std::move(*choice);
    pair.model_name = pair.model_label = report::replay_label(identity.model);
    pair.directory = recorded->size() == 1 ? *out : *out / bench.directory.filename();
    pair.recorded = bench.directory;
    pair.chosen_track = identity.track;
    plan.pairs.push_back(std::move(pair));
  }
  return plan;
}

Status find_prices(BenchPlan& plan, const BenchOptions& options) {
  const fs::path file = plan.agents_dir / "llm/prices.toml";
  std::optional<agents::PriceTable> table;
  std::vector<GivenPrice> given;
  for (const std::string& text : options.prices) {
    ASSAY_TRY(price, price_from(text));
    const bool known = price.model.empty() ||
                       std::any_of(plan.models.begin(), plan.models.end(),
                                   [&](const auto& model) { return model->name == price.model; });
    if (!known)
      return fail(ErrorCode::invalid_argument,
                  "--price names '" + price.model + "', which is not a --model of this bench");
    given.push_back(std::move(price));
  }
  for (const auto& model : plan.models) {
    if (!model->client->is_model()) continue;
    for (const GivenPrice& one : given) {
      if (one.model.empty() ? !model->price.has_value() : one.model == model->name)
        model->price = one.price;
    }
    if (model->price) continue;
    if (!table) {
      Result<agents::PriceTable> loaded = agents::PriceTable::load(file);
      if (!loaded) return fail(loaded.error());
      table = std::move(*loaded);
    }
    model->price = table->find(model->name);
    if (model->price) continue;
    if (options.max_cost_usd) {
      return fail(ErrorCode::invalid_argument, "--max-cost cannot be kept: the price of '" +
                                                   model->name + "' is not in " + file.string() +
                                                   "; give --price IN,OUT (0,0: it is free)");
    }
    stderr_line("The price of " + model->name +
                " is not known, so the costs of its attempts are not known. Give --price IN,OUT, "
                "in US dollars per million tokens.");
  }
  return {};
}

Status open_journals(BenchPlan& plan, const BenchOptions& options, const fs::path& store) {
  const bool begun = std::any_of(plan.pairs.begin(), plan.pairs.end(),
                                 [](const BenchPair& pair) { return has_journal(pair.directory); });
  const bool own_server = options.server.empty();
  std::int64_t place = 0;
  for (BenchPair& pair : plan.pairs) {
    const BenchIdentity identity{
        .agent = pair.agent_name,
        .model = pair.model_name,
        .suite = plan.suite,
        .device = own_server ? options.device : "",
        .server = options.server,
        .store = own_server ? store.string() : "",
        .samples = plan.samples,
        .track = pair.chosen_track,
        .folder = options.suite.empty() ? "" : fs::absolute(options.suite).string(),
        .place = ++place};
    auto journal = BenchJournal::open(pair.directory, identity,
                                      options.resume && (!begun || has_journal(pair.directory)));
    if (!journal) return fail(journal.error());
    pair.journal = std::move(*journal);
  }
  return {};
}

void announce_pairs(const BenchPlan& plan) {
  for (const BenchPair& pair : plan.pairs)
    stderr_line(pair.agent_name + " with " + pair.model_label + "; transcripts and journal in " +
                pair.directory.string());
}

}  // namespace assay::bench
