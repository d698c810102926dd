// `assay bench`: an agent x a model x operators x samples, against a server of its own or a running one.
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
#include "server/cli/bench_run.h"
#include "server/cli/commands.h"
#include "server/cli/common.h"
#include "server/cli/report_formats.h"
#include "server/cli/report_source.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "bench";
constexpr const char* kTokenVariable = "ASSAY_TOKEN";

int status_of_model_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  return error.code == ErrorCode::permission_denied ? kNoCredentials : kUsage;
}

int status_of_start_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  return error.code == ErrorCode::io ? kInternal : kUnavailable;
}

/// A server of our own: this very executable. It ends when its standard input does.
Result<std::unique_ptr<mcp::Client>> start_server(const BenchOptions& options, const fs::path& store) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::unavailable, "readlink /proc/self/exe: " + error.message());
  std::vector<std::string> command = {self.string(), "serve",        "--stdio",     "--device",       options.device,
                                      "--store",     store.string(), "--isolation", options.isolation};
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

/// The report of each run: from our own store, or in a foreign server's words.
int print_reports(mcp::Client& client, const BenchOptions& options, const Workspace& workspace, const fs::path& store, const std::vector<std::string>& runs) {
  for (const std::string& run : runs) {
    std::string text;
    if (options.server.empty()) {
      const Result<Report> report = read_report(store, workspace.catalog, run);
      if (!report) return complain(kCommand, status_of_report_error(report.error()), report.error().message);
      text = format_report(*report, ReportFormat::table);
    } else {
      const Result<mcp::ToolResult> answer = client.call_tool("scorecard", {{"run", run}});
      if (!answer) return complain(kCommand, kUnavailable, answer.error().message);
      text = answer->text + "\n";
    }
    std::printf("\n%s", text.c_str());
  }
  std::fflush(stdout);
  return kPass;
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
  return {};
}

/// Nothing for providers without a model and for models that prices.toml does not list.
Result<std::optional<agents::Price>> find_price(const BenchOptions& options, const Paths& paths, const agents::LlmClient& model) {
  if (!model.is_model()) return std::optional<agents::Price>();
  const fs::path file = paths.root / "reference_agents/llm/prices.toml";
  const Result<agents::PriceTable> table = agents::PriceTable::load(file);
  if (!table) return fail(table.error());
  std::optional<agents::Price> price = table->find(options.model);
  if (!price && options.max_cost_usd) {
    return fail(ErrorCode::invalid_argument, "--max-cost cannot be kept: the price of '" + options.model + "' is not in " + file.string() + "; add it there");
  }
  if (!price) std::fprintf(stderr, "The price of %s is unknown: costs show as $0. %s lists the known ones.\n", options.model.c_str(), file.c_str());
  return price;
}

int run_command(const BenchOptions& options) {
  if (Status ok = check_options(options); !ok) return complain(kCommand, ok.error().code == ErrorCode::not_found ? kUnknownName : kUsage, ok.error().message);
  const Result<agents::AgentChoice> agent = agents::parse_agent(options.agent);
  if (!agent) return complain(kCommand, agent.error().code == ErrorCode::not_found ? kUnknownName : kUsage, agent.error().message);
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kCommand, status);
  if (!workspace) return status;
  const Paths& paths = workspace->paths;
  agents::ProviderOptions provider;
  provider.data_dir = paths.root / "reference_agents";
  const auto model = agents::make_llm_client(options.model, provider);
  if (!model) return complain(kCommand, status_of_model_error(model.error()), model.error().message);
  const Result<std::string> suite = suite_of(options, options.server.empty() ? &workspace->catalog : nullptr, (*model)->known_operators());
  if (!suite) return complain(kCommand, suite.error().code == ErrorCode::not_found ? kUnknownName : kUsage, suite.error().message);
  const auto price = find_price(options, paths, **model);
  if (!price) return complain(kCommand, price.error().code == ErrorCode::invalid_argument ? kUsage : kBadConfig, price.error().message);

  const fs::path store = fs::absolute(options.store.empty() ? paths.default_store() : fs::path(options.store));
  const bool own_server = options.server.empty();
  const BenchIdentity identity{options.agent,  options.model, *suite, own_server ? options.device : "", options.server, own_server ? store.string() : "",
                               options.samples};
  const fs::path directory = bench_directory(options);
  const auto journal = BenchJournal::open(directory, identity, options.resume);
  if (!journal) return complain(kCommand, journal.error().code == ErrorCode::corrupt ? kBadData : kUsage, journal.error().message);
  auto client = connect(options, store);
  if (!client) return complain(kCommand, status_of_start_error(client.error()), client.error().message);
  std::fprintf(stderr, "%s with %s; transcripts and journal in %s\n", options.agent.c_str(), (*model)->label().c_str(), directory.c_str());
  const Result<BenchEnd> end =
      run_bench(**client, **model, *price, options.max_cost_usd, **journal,
                {directory, provider.data_dir, options.agent, *agent, *suite, options.samples, options.jobs, price->has_value()});
  if (!end) return complain(kCommand, status_of_start_error(end.error()), end.error().message);
  status = print_reports(**client, options, *workspace, store, end->runs);
  if (end->unfinished == 0) return status;
  const std::string why = end->stopped_by.empty() ? "" : "stopped: " + end->stopped_by + "; ";
  return complain(
      kCommand, kError,
      why + std::to_string(end->unfinished) + " of " + std::to_string(end->attempts) + " attempts are not finished; the same command with --resume continues");
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Run a reference agent with a model over the operators and report");
  command->add_option("--agent", options->agent, agent_names() + "; options ride on the name: leader?rounds=4")->capture_default_str();
  command->add_option("--model", options->model, "PROVIDER:NAME, e.g. anthropic:claude-sonnet-4-5, or without a model scripted:demo or sim:SEED")->required();
  command->add_option("--split", options->split, "standard, ood or dsl (default: all)");
  command->add_option("--operators", options->operators, "a comma-separated list (default: all; without a model: those it has answers for)");
  command->add_option("--samples", options->samples, "independent attempts per operator; each is a run of its own")->capture_default_str();
  command->add_option("--jobs", options->jobs, "attempts at once")->capture_default_str();
  command->add_flag("--resume", options->resume, "continue the bench in --out; repeats no finished operator and pays for no reply twice");
  command->add_option("--out", options->out, "directory of journal and transcripts (default: bench-out/AGENT_PROVIDER_NAME)");
  command->add_option("--max-cost", options->max_cost_usd, "US dollars that the bench never exceeds");
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
