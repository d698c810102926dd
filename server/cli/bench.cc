// `assay bench`: agents x models x operators x samples, against a server of its own or a running one; or a recorded bench again without a model.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference_agents/agent/agents.h"
#include "reference_agents/llm/provider.h"
#include "server/cli/bench_journal.h"
#include "server/cli/bench_options.h"
#include "server/cli/bench_pairs.h"
#include "server/cli/bench_replay.h"
#include "server/cli/bench_report.h"
#include "server/cli/bench_run.h"
#include "server/cli/commands.h"
#include "server/cli/common.h"
#include "server/cli/report_source.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "bench";
constexpr const char* kTokenVariable = "ASSAY_TOKEN";

int status_of_start_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  return error.code == ErrorCode::io ? kInternal : kUnavailable;
}

/// A server of our own: this very executable. It ends when its standard input does, and has no use for the models' keys.
Result<std::unique_ptr<mcp::Client>> start_server(const BenchOptions& options, const fs::path& store) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::unavailable, "readlink /proc/self/exe: " + error.message());
  std::vector<std::string> command = {self.string(), "serve",        "--stdio",     "--device",       options.device,
                                      "--store",     store.string(), "--isolation", options.isolation};
  agents::forget_keys();
  auto client = mcp::Client::connect_stdio(command);
  if (client) return client;
  // The server itself has said why on stderr, which is ours as well.
  return fail(ErrorCode::unavailable, "the server on device " + options.device + " with store " + store.string() + " did not start: " + client.error().message);
}

Result<std::unique_ptr<mcp::Client>> connect(const BenchOptions& options, const fs::path& store) {
  if (options.server.empty()) return start_server(options, store);
  const char* token = std::getenv(kTokenVariable);
  auto client = mcp::Client::connect_http(options.server, token == nullptr ? "" : token);
  if (!client) return client;
  if (const auto tools = (*client)->list_tools(); !tools)
    return fail(ErrorCode::unavailable, "no server answers at " + options.server + ": " + tools.error().message);
  return client;
}

std::string agent_names() {
  std::string names;
  for (const agents::AgentEntry& agent : agents::agents()) names += (names.empty() ? "" : ", ") + agent.name;
  return names;
}

Status check_options(const BenchOptions& options) {
  if (Status ok = check_device_name(options.device); !ok) return ok;
  if (options.samples < 1 || options.samples > kMostBenchSamples) {
    return fail(ErrorCode::invalid_argument, "--samples must be from 1 to " + std::to_string(kMostBenchSamples));
  }
  if (options.jobs < 1 || options.jobs > kMostBenchJobs) return fail(ErrorCode::invalid_argument, "--jobs must be from 1 to " + std::to_string(kMostBenchJobs));
  if (options.max_cost_usd && !(*options.max_cost_usd > 0)) return fail(ErrorCode::invalid_argument, "--max-cost must be a positive amount of US dollars");
  if (const auto isolation = isolation_from(options.isolation); !isolation) return fail(isolation.error());
  if (options.max_time.empty()) return {};
  const auto seconds = duration_from(options.max_time);
  return seconds ? Status() : fail(ErrorCode::invalid_argument, "--max-time: " + seconds.error().message);
}

Result<BenchSetup> make_setup(const BenchOptions& options, const Workspace& workspace, const fs::path& agents_dir) {
  if (!options.replay.empty()) return recorded_pairs(options);
  return chosen_pairs(options, options.server.empty() ? &workspace.catalog : nullptr, agents_dir);
}

int status_of_setup_error(const BenchOptions& options, const Error& error) {
  if (error.code == ErrorCode::corrupt) return kBadData;
  if (error.code == ErrorCode::permission_denied) return kNoCredentials;
  if (error.code == ErrorCode::not_found) return options.replay.empty() ? kUnknownName : kNoInput;
  return kUsage;
}

int status_of_journal_error(const Error& error) {
  if (error.code == ErrorCode::corrupt) return kBadData;
  return error.code == ErrorCode::invalid_argument ? kUsage : kUnavailable;
}

using Journals = std::vector<std::unique_ptr<BenchJournal>>;

/// One for each pair. A bench of several that is resumed may have died before it began some of them.
Result<Journals> open_journals(const BenchOptions& options, const BenchSetup& setup, const fs::path& store) {
  const bool begun = std::any_of(setup.pairs.begin(), setup.pairs.end(), [](const ChosenPair& pair) { return has_journal(pair.directory); });
  Journals journals;
  for (const ChosenPair& pair : setup.pairs) {
    const bool own_server = options.server.empty();
    const BenchIdentity identity{
        pair.agent_name, pair.model_name, setup.suite, own_server ? options.device : "", options.server, own_server ? store.string() : "", setup.samples};
    auto journal = BenchJournal::open(pair.directory, identity, options.resume && (!begun || has_journal(pair.directory)));
    if (!journal) return fail(journal.error());
    journals.push_back(std::move(*journal));
  }
  return journals;
}

BenchPlan make_plan(const BenchOptions& options, const BenchSetup& setup, const Journals& journals, const fs::path& agents_dir) {
  BenchPlan plan;
  for (std::size_t i = 0; i < setup.pairs.size(); ++i) {
    const ChosenPair& pair = setup.pairs[i];
    plan.pairs.push_back({pair.agent_name, pair.model_label, pair.agent, pair.model == nullptr ? nullptr : pair.model->client.get(),
                          pair.model == nullptr ? std::nullopt : pair.model->price, pair.directory, journals[i].get(), pair.recorded});
    std::fprintf(stderr, "%s with %s; transcripts and journal in %s\n", pair.agent_name.c_str(), pair.model_label.c_str(), pair.directory.c_str());
  }
  plan.agents_dir = agents_dir;
  plan.suite = setup.suite;
  plan.samples = setup.samples;
  plan.jobs = options.jobs;
  plan.max_cost_usd = options.max_cost_usd;
  if (!options.max_time.empty()) plan.max_time = std::chrono::seconds(duration_from(options.max_time).value_or(0));
  return plan;
}

/// kFail when an attempt did not go as recorded.
int tell_replay(const BenchPlan& plan) {
  int status = kPass;
  for (const BenchPair& pair : plan.pairs) {
    const Result<JournalContent> recorded = read_journal(pair.recorded);
    const Result<JournalContent> replayed = read_journal(pair.directory);
    if (!recorded || !replayed) return complain(kCommand, kBadData, (recorded ? replayed : recorded).error().message);
    const ReplayOutcome outcome = compare_replay(*recorded, *replayed);
    std::printf("\nReplay of %s\n%s", pair.recorded.c_str(), outcome.text.c_str());
    if (outcome.other + outcome.no_reply > 0) status = kFail;
  }
  std::fflush(stdout);
  return status;
}

/// Says what is left to do, and why.
int tell_unfinished(const BenchPlan& plan, const std::vector<PairEnd>& ends, int status) {
  std::size_t unfinished = 0;
  std::size_t attempts = 0;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    unfinished += ends[i].unfinished;
    attempts += ends[i].attempts;
    if (ends[i].unfinished == 0 || ends[i].stopped_by.empty()) continue;
    if (std::find(reasons.begin(), reasons.end(), ends[i].stopped_by) == reasons.end()) reasons.push_back(ends[i].stopped_by);
  }
  if (unfinished == 0) return status;
  std::string why;
  for (const std::string& reason : reasons) why += "stopped: " + reason + "; ";
  const std::string all = plan.pairs.size() > 1 ? " attempts of " + std::to_string(plan.pairs.size()) + " pairs" : " attempts";
  return complain(kCommand, kError,
                  why + std::to_string(unfinished) + " of " + std::to_string(attempts) + all + " are not finished; the same command with --resume continues");
}

int run_command(const BenchOptions& options) {
  if (Status ok = check_options(options); !ok) return complain(kCommand, ok.error().code == ErrorCode::not_found ? kUnknownName : kUsage, ok.error().message);
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kCommand, status);
  if (!workspace) return status;
  const fs::path agents_dir = workspace->paths.root / "reference_agents";
  Result<BenchSetup> setup = make_setup(options, *workspace, agents_dir);
  if (!setup) return complain(kCommand, status_of_setup_error(options, setup.error()), setup.error().message);
  if (Status priced = find_prices(*setup, options, agents_dir); !priced)
    return complain(kCommand, priced.error().code == ErrorCode::invalid_argument ? kUsage : kBadConfig, priced.error().message);

  const fs::path store = fs::absolute(options.store.empty() ? workspace->paths.default_store() : fs::path(options.store));
  const Result<Journals> journals = open_journals(options, *setup, store);
  if (!journals) return complain(kCommand, status_of_journal_error(journals.error()), journals.error().message);
  auto client = connect(options, store);
  if (!client) return complain(kCommand, status_of_start_error(client.error()), client.error().message);
  const BenchPlan plan = make_plan(options, *setup, *journals, agents_dir);
  const Result<std::vector<PairEnd>> ends = run_bench(**client, plan);
  if (!ends) return complain(kCommand, status_of_start_error(ends.error()), ends.error().message);
  const Result<std::string> reports = options.server.empty() ? reports_text(store, workspace->catalog, *ends) : reports_text(**client, plan, *ends);
  if (!reports) {
    status = complain(kCommand, options.server.empty() ? status_of_report_error(reports.error()) : kUnavailable, reports.error().message);
  } else {
    std::fputs(reports->c_str(), stdout);
    std::fflush(stdout);
    if (!options.replay.empty()) status = tell_replay(plan);
  }
  return tell_unfinished(plan, *ends, status);
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Run a reference agent with a model over the operators and report");
  CLI::Option* agent = command->add_option("--agent", options->agents, agent_names() + "; options ride on the name: leader?rounds=4; repeat it to compare")
                           ->capture_default_str()
                           ->allow_extra_args(false);
  CLI::Option* model = command
                           ->add_option("--model", options->models,
                                        "PROVIDER:NAME, e.g. anthropic:claude-sonnet-4-5, or without a model scripted:demo or sim:SEED; repeat it to compare")
                           ->allow_extra_args(false);
  CLI::Option* split = command->add_option("--split", options->split, "standard, ood or dsl (default: all)");
  CLI::Option* names =
      command->add_option("--operators", options->operators, "a comma-separated list (default: all; without a model: those it has answers for)");
  CLI::Option* samples =
      command->add_option("--samples", options->samples, "independent attempts per operator; each is a run of its own")->capture_default_str();
  command->add_option("--jobs", options->jobs, "attempts at once, over all pairs of agent and model")->capture_default_str();
  command->add_flag("--resume", options->resume, "continue the bench in --out; repeats no finished operator and pays for no reply twice");
  command->add_option("--out", options->out,
                      "directory of journal and transcripts (default: bench-out/AGENT_PROVIDER_NAME); of several pairs: of their folders");
  CLI::Option* cost = command->add_option("--max-cost", options->max_cost_usd, "US dollars that the bench never exceeds, over all pairs");
  command->add_option("--max-time", options->max_time, "seconds, or 15m, 2h, 1h30m: after it no attempt starts, and those that run come to their end");
  command
      ->add_option("--replay", options->replay, "the --out of an earlier bench: its transcripts answer in the place of the model, the verdicts are made anew")
      ->excludes(agent)
      ->excludes(model)
      ->excludes(split)
      ->excludes(names)
      ->excludes(samples)
      ->excludes(cost);
  CLI::Option* device = command->add_option("--device", options->device, "cpu, cuda:N or fake")->capture_default_str();
  CLI::Option* store = command->add_option("--store", options->store, "the store of runs and verdicts (default: the user's)");
  CLI::Option* isolation = command->add_option("--isolation", options->isolation, "strict or best-effort")->capture_default_str();
  command->add_option("--server", options->server, "http://HOST:PORT/mcp of a running server, instead of an own one; its token is in ASSAY_TOKEN")
      ->excludes(device)
      ->excludes(store)
      ->excludes(isolation);
  command->callback([options, &status] { status = run_command(*options); });
}

}  // namespace assay::server
