// Implements `assay bench`, which runs agents with models over operators. It uses a running server
// or starts its own server. With --replay, it repeats a recorded bench without a model.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/stderr_line.h"
#include "base/text.h"
#include "reference_agents/registry/agents.h"
#include "sandbox/device/choose_device.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/bench/keep_transcripts.h"
#include "server/bench/options.h"
#include "server/bench/plan.h"
#include "server/bench/run.h"
#include "server/bench/status.h"
#include "server/commands/commands.h"
#include "tools/model/tracks.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

using bench::BenchOptions;
using bench::BenchPlan;

constexpr const char* kBench = "bench";

Result<BenchPlan> make_plan(const BenchOptions& options, const Workspace& workspace,
                            const fs::path& agents_dir) {
  if (!options.replay.empty()) return bench::recorded_pairs(options, agents_dir);
  return bench::chosen_pairs(options, options.server.empty() ? &workspace.catalog : nullptr,
                             agents_dir);
}

/// Replaces `auto` by the device for which it stands, because a bench that is resumed must use the
/// same device.
Status choose_device(BenchOptions& options, const Workspace& workspace) {
  if (!options.server.empty()) return {};
  ASSAY_TRY(config, sandbox_config(options.sandbox, workspace.paths));
  options.device = sandbox::choose_device(options.device, config).name;
  return {};
}

/// Copies the transcripts into the store. The bench's server must have ended. Names the files that
/// are no transcripts, and returns an error if there are any.
Status keep_transcripts(const BenchPlan& plan, const fs::path& path) {
  std::size_t refused = 0;
  ASSAY_TRY(store, Store::open(path, StoreMode::read_write));
  for (const bench::BenchPair& pair : plan.pairs) {
    ASSAY_TRY(journal, bench::read_journal(pair.directory));
    ASSAY_TRY(kept, bench::keep_transcripts(*store, {pair.directory, std::move(journal)},
                                            system_clock()));
    for (const std::string& why : kept.refused) stderr_line("left out: " + why);
    refused += kept.refused.size();
  }
  if (refused == 0) return {};
  return fail(ErrorCode::corrupt, std::to_string(refused) + " files are no transcripts");
}

int run_command(BenchOptions options) {
  if (const Status started = start_log(options.log); !started)
    return print_error(kBench, kUsage, started.error().message);
  if (Status ok = bench::check_options(options); !ok)
    return print_error(kBench, bench::status_of_option_error(ok.error()), ok.error().message);
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kBench, status, options.suite);
  if (!workspace) return status;
  if (const Status chosen = choose_device(options, *workspace); !chosen)
    return print_error(kBench, kUsage, chosen.error().message);
  const fs::path agents_dir = workspace->paths.root / "reference_agents";
  Result<BenchPlan> plan = make_plan(options, *workspace, agents_dir);
  if (!plan)
    return print_error(kBench, bench::status_of_setup_error(options, plan.error()),
                       plan.error().message);
  if (Status priced = bench::find_prices(*plan, options); !priced)
    return print_error(kBench, bench::status_of_price_error(priced.error()),
                       priced.error().message);

  const fs::path store = fs::absolute(options.store.empty() ? workspace->paths.default_store()
                                                            : fs::path(options.store));
  if (Status opened = bench::open_journals(*plan, options, store); !opened)
    return print_error(kBench, bench::status_of_journal_error(opened.error()),
                       opened.error().message);
  auto client = bench::connect_bench(options, store);
  if (!client)
    return print_error(kBench, bench::status_of_start_error(client.error()),
                       client.error().message);
  bench::announce_pairs(*plan);
  const Result<std::vector<bench::PairEnd>> ends = bench::run_bench(**client, *plan);
  if (!ends)
    return print_error(kBench, bench::status_of_start_error(ends.error()), ends.error().message);
  bench::say_why_stopped(*ends);
  if (options.server.empty()) {
    client->reset();  // ends the server, which writes to the store
    // The transcripts also stay in the bench's folder, so their loss spoils no result.
    if (const Status kept = keep_transcripts(*plan, store); !kept)
      stderr_line("not all transcripts are in the store, so sites do not show them: " +
                  kept.error().message + "; later: assay import transcripts DIR --store " +
                  shell_word(store.string()));
  }
  const Result<std::string> reports =
      options.server.empty() ? bench::reports_text(store, workspace->catalog, *plan, *ends)
                             : bench::reports_text(**client, *plan, *ends);
  if (!reports) {
    status = print_error(
        kBench, options.server.empty() ? status_of_report_error(reports.error()) : kUnavailable,
        reports.error().message);
  } else {
    std::fputs(reports->c_str(), stdout);
    std::fflush(stdout);
    if (!options.replay.empty()) status = bench::print_replay(*plan);
  }
  return bench::print_unfinished(*plan, *ends, status);
}

std::string agent_names() {
  std::string names;
  for (const agents::AgentEntry& agent : agents::agents())
    names += (names.empty() ? "" : ", ") + agent.name;
  return names;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench", "Run a reference agent with a model over the operators and report");
  CLI::Option* agent =
      command
          ->add_option(
              "--agent", options->agents,
              agent_names() + "; options follow the name: leader?rounds=4; repeat it to compare")
          ->capture_default_str()
          ->allow_extra_args(false);
  CLI::Option* model =
      command
          ->add_option("--model", options->models,
                       "PROVIDER:NAME, e.g. anthropic:claude-sonnet-4-5, or without a model "
                       "scripted:demo or sim:SEED; repeat it to compare")
          ->allow_extra_args(false);
  CLI::Option* track = command->add_option("--track", options->track,
                                           tools::track_names() + " (default: each agent's own)");
  CLI::Option* split =
      command->add_option("--split", options->split, "standard, ood or dsl (default: all)");
  CLI::Option* names = command->add_option(
      "--operators", options->operators,
      "a comma-separated list (default: all, or those that a scripted model can answer)");
  CLI::Option* samples =
      command
          ->add_option("--samples", options->samples,
                       "independent attempts at each operator, each in a run of its own")
          ->capture_default_str();
  command
      ->add_option("--jobs", options->jobs,
                   "attempts to run at once, over all pairs of agent and model")
      ->capture_default_str();
  command->add_flag(
      "--resume", options->resume,
      "continue the bench in --out; no finished attempt is repeated and no reply is paid twice");
  command->add_option(
      "--out", options->out,
      "directory for journal and transcripts (default: "
      "bench-out/AGENT_PROVIDER_NAME); with several pairs it holds a folder for each");
  CLI::Option* cost = command->add_option("--max-cost", options->max_cost_usd,
                                          "US dollars that all pairs together never exceed");
  CLI::Option* price =
      command
          ->add_option("--price", options->prices,
                       "IN,OUT or PROVIDER:NAME=IN,OUT: US dollars per million tokens of prompts "
                       "and of replies, for models without a known price, or for that model; 0,0 "
                       "for a model that costs nothing; may be repeated")
          ->allow_extra_args(false);
  CLI::Option* suite = command->add_option("--suite", options->suite,
                                           "a folder of operators to use instead of Assay's own");
  command->add_option("--max-time", options->max_time,
                      "seconds, or 15m, 2h, 1h30m: after this time no attempt starts, and running "
                      "ones finish");
  command
      ->add_option("--replay", options->replay,
                   "the --out of an earlier bench: its transcripts answer instead of the model, "
                   "and every submission is judged again")
      ->excludes(agent)
      ->excludes(model)
      ->excludes(track)
      ->excludes(split)
      ->excludes(names)
      ->excludes(samples)
      ->excludes(cost)
      ->excludes(price);
  CLI::Option* device =
      command->add_option("--device", options->device, sandbox::device_option_help())
          ->capture_default_str();
  CLI::Option* store = command->add_option("--store", options->store,
                                           "the store of runs and verdicts (default: the user's)");
  add_log_options(*command, options->log);
  const std::vector<CLI::Option*> sandbox = add_sandbox_options(*command, options->sandbox);
  CLI::Option* server = command
                            ->add_option("--server", options->server,
                                         "http://HOST:PORT/mcp of a running server, instead of "
                                         "starting one; its token is in ASSAY_TOKEN")
                            ->excludes(device)
                            ->excludes(store)
                            ->excludes(suite);
  for (CLI::Option* option : sandbox) server->excludes(option);
  command->callback([options, &status] { status = run_command(*options); });
}

}  // namespace assay::server
