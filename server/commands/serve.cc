// Implements `assay serve`, which runs the MCP server over stdio or HTTP, with its store, devices
// and tools.
#include "server/commands/serve.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/stderr_line.h"
#include "operators/guides.h"
#include "operators/search/example_search.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "server/app/exit_status.h"
#include "server/app/open_files.h"
#include "server/app/option_groups.h"
#include "server/app/stop_on_signal.h"
#include "server/app/store_options.h"
#include "server/app/workspace.h"
#include "server/commands/client_config.h"
#include "server/commands/commands.h"
#include "server/commands/print_config.h"
#include "server/commands/serve_options.h"
#include "server/conformance/fixtures.h"
#include "server/edge/http_settings.h"
#include "server/edge/shares_file.h"
#include "server/evaluate/evaluate_api.h"
#include "server/evaluate/input_groups.h"
#include "server/mcp/core/server.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/stdio/stdio_server.h"
#include "server/observe/observer.h"
#include "server/observe/server_metrics.h"
#include "server/observe/worker_metrics.h"
#include "server/runs/drain.h"
#include "server/runs/services.h"
#include "server/site/live_pages.h"
#include "tools/model/source_folder.h"

namespace assay::server {
namespace {

constexpr const char* kInstructions =
    "Assay scores GPU kernels written in Triton, its dialects Gluon and TLX, or CUDA C++. Start "
    "with list_operators, then fetch_spec; "
    "search_examples shows techniques. Write the entry function that "
    "the spec names, try it with compile and run_tests, and look at profile. For a score: "
    "start_run, then submit once per operator with the run handle. "
    "Send a source once: a later call names it by `source`, the job handle of the earlier call, "
    "and "
    "changes it by `edits`. "
    "Answers "
    "name the next step; work longer than 20 s answers with a job handle for the job tool.";

/// The devices of the server, and those of them that are pools of workers.
struct ServedDevices {
  Devices all;
  std::vector<const RemoteDevice*> pools;
};

/// Creates the devices that the options name, and lets them warm up in the background. If a device
/// cannot be created, prints the error, sets `status` and returns nullopt.
std::optional<ServedDevices> make_devices(const ServeOptions& options, const Workspace& workspace,
                                          int& status) {
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace.paths);
  if (!config) {
    status = print_error("serve", kUsage, config.error().message);
    return std::nullopt;
  }
  const Result<std::vector<PoolSettings>> pools = chosen_pools(options.workers);
  if (!pools) {
    status = print_error("serve", kUsage, pools.error().message);
    return std::nullopt;
  }
  ServedDevices served;
  Devices& devices = served.all;
  // With workers, this machine runs jobs only if the command line names a device.
  const bool workers_only = !pools->empty() && !options.devices_given;
  for (const std::string& value : workers_only ? std::vector<std::string>() : options.devices) {
    if (const Status known = sandbox::check_device_option(value); !known) {
      status = print_error("serve", kUnknownName, known.error().message);
      return std::nullopt;
    }
    const sandbox::DeviceChoice choice = sandbox::choose_device(value, *config);
    const std::string& name = choice.name;
    if (value != name)
      log::info("the option --device auto has chosen a device",
                {{"device", name}, {"no_gpu", choice.no_gpu}});
    const bool twice = std::any_of(devices.begin(), devices.end(),
                                   [&](const auto& device) { return device.first == name; });
    if (twice) continue;
    Result<std::unique_ptr<sandbox::Device>> device = sandbox::make_device(name, *config);
    if (!device) {
      status = print_error("serve", status_of_device_error(device.error()), device.error().message);
      return std::nullopt;
    }
    devices.emplace_back(name, std::move(*device));
  }
  Result<std::vector<std::unique_ptr<RemoteDevice>>> remote =
      make_pools(*pools, workspace, *config);
  if (!remote) {
    status = print_error("serve", kUnavailable, remote.error().message);
    return std::nullopt;
  }
  for (std::unique_ptr<RemoteDevice>& pool : *remote) {
    served.pools.push_back(pool.get());
    std::string name = pool->info().name;
    devices.emplace_back(std::move(name), std::move(pool));
  }
  return served;
}

/// Returns how many jobs each device runs at once.
std::vector<int> jobs_of(const Devices& devices) {
  std::vector<int> jobs;
  for (const auto& [name, device] : devices) jobs.push_back(device->info().concurrency);
  return jobs;
}

/// Reads the file of shares again. Without a file, does nothing.
void reload_shares(const std::string& path, StoredJobs& jobs) {
  if (path.empty()) return;
  const Result<ShareSettings> shares = read_shares(path);
  if (!shares) {
    log::error("the old shares stay in use", {{"error", shares.error().message}});
    return;
  }
  jobs.set_shares(*shares);
  log::info("the shares were read again", {{"file", path}});
}

/// Installs the signal handlers. SIGHUP makes a server over HTTP read its files again, and open its
/// logs again; `more` is called then, too. SIGHUP ends a server on stdio, because its terminal has
/// gone.
Result<std::unique_ptr<StopOnSignal>> handle_signals(const std::optional<HttpSettings>& http,
                                                     Observer& observer,
                                                     std::function<void()> more = nullptr) {
  if (!http) return StopOnSignal::install();
  return StopOnSignal::install([files = http->files, &observer, more = std::move(more)] {
    if (const Status opened = log::reopen(); !opened)
      log::error("the old log stays in use", {{"error", opened.error().message}});
    observer.reopen();
    files.reload();
    if (more) more();
  });
}

/// Opens the logs and starts the traces that the options ask for. On an error, prints the reason,
/// sets `status` and returns null.
std::unique_ptr<Observer> make_observer(const ServeOptions& options, int& status) {
  const Result<TraceTarget> target =
      trace_target(options.observe, [](const char* name) { return std::getenv(name); });
  if (!target) {
    status = print_error("serve", kUsage, target.error().message);
    return nullptr;
  }
  Result<std::unique_ptr<Observer>> observer =
      Observer::make(options.observe, *log::format_named(options.log.format), *target);
  if (observer) return std::move(*observer);
  status = print_error("serve", kNoInput, observer.error().message);
  return nullptr;
}

/// Serves over HTTP if `http` has a value. Otherwise serves over stdio. After the stop of
/// `at_once` the server stops. After that of `orderly`, a server on stdio gives running calls no
/// more time at the end of input.
int serve_until(mcp::Server& server, std::optional<HttpSettings>& http,
                const std::stop_token& orderly, const std::stop_token& at_once) {
  if (!http) return mcp::serve_stdio(server, {.now = at_once, .soon = orderly});
  mcp::HttpOptions& options = http->options;
  options.listening = [&options](int port) {
    const bool v6 = options.host.find(':') != std::string::npos;
    stderr_line(std::string("assay serve: listening on ") + (options.tls ? "https" : "http") +
                "://" + (v6 ? "[" + options.host + "]" : options.host) + ":" +
                std::to_string(port) + "/mcp");
  };
  return mcp::serve_http(server, options, at_once);
}

/// Serves until the end of input, until the second signal, or until the jobs in progress at the
/// first signal have ended.
int serve_jobs(mcp::Server& server, std::optional<HttpSettings>& http, Observer& observer,
               StoredJobs& jobs, const ServeOptions& options) {
  const Result<std::unique_ptr<StopOnSignal>> stop = handle_signals(
      http, observer, [&jobs, path = options.shares_file] { reload_shares(path, jobs); });
  if (!stop) return print_error("serve", kInternal, stop.error().message);
  const Drain drain(jobs, std::chrono::seconds(options.drain_s),
                    {.begin = (*stop)->orderly(), .at_once = (*stop)->at_once()});
  if (http) http->options.draining = [&drain] { return drain.begun(); };
  return serve_until(server, http, (*stop)->orderly(), drain.over());
}

int serve_fixtures(std::optional<HttpSettings>& http, Observer& observer) {
  const auto server = conformance::make_conformance_server();
  if (!server) return print_error("serve", kInternal, server.error().message);
  const Result<std::unique_ptr<StopOnSignal>> stop = handle_signals(http, observer);
  if (!stop) return print_error("serve", kInternal, stop.error().message);
  return serve_until(**server, http, (*stop)->orderly(), (*stop)->orderly());
}

/// Returns the pages of a server over HTTP. Returns null if the pages are not built: the server
/// works without them.
std::unique_ptr<site::LivePages> make_pages(const Workspace& workspace,
                                            const std::filesystem::path& store,
                                            ServerServices& services, InputGroups& groups) {
  const Result<site::Bundle> bundle = site::find_bundle(workspace.paths.root);
  Result<std::unique_ptr<site::LivePages>> pages =
      bundle
          ? site::LivePages::make(
                *bundle,
                {.store = store,
                 .catalog = &workspace.catalog,
                 .assay = ASSAY_VERSION,
                 .verdicts_read =
                     [&groups](const std::string& principal) { groups.note_all_read(principal); }},
                services)
          : Result<std::unique_ptr<site::LivePages>>(fail(bundle.error()));
  if (pages) return std::move(*pages);
  log::warning("the server has no pages", {{"reason", pages.error().message}});
  return nullptr;
}

int serve(const ServeOptions& options) {
  if (!options.print_config.empty()) return print_config(options);
  if (const Status started = start_log(options.log); !started)
    return print_error("serve", kUsage, started.error().message);
  const Result<StoreLimits> limits = store_limits(options.limits);
  if (!limits) return print_error("serve", kUsage, limits.error().message);
  const Result<ShareSettings> shares =
      options.shares_file.empty() ? ShareSettings() : read_shares(options.shares_file);
  if (!shares) return print_error("serve", kUsage, shares.error().message);
  int status = kPass;
  std::optional<HttpSettings> http;
  if (!options.http.address.empty() && !(http = http_settings(options.http, status))) return status;
  const std::unique_ptr<Observer> observer = make_observer(options, status);
  if (!observer) return status;
  if (http) http->options.request_ended = observer->requests();
  if (options.conformance) return serve_fixtures(http, *observer);
  const std::optional<Workspace> workspace = open_workspace("serve", status, options.suite);
  if (!workspace) return status;
  std::optional<ServedDevices> devices = make_devices(options, *workspace, status);
  if (!devices) return status;
  const OpenFiles files = open_files_for(jobs_of(devices->all));
  if (files.allowed < files.needed) return print_error("serve", kUnavailable, text_of(files));
  std::optional<tools::SourceFolder> folder;
  if (!options.source_folder.empty()) {
    Result<tools::SourceFolder> opened = tools::SourceFolder::open(options.source_folder);
    if (!opened)
      return print_error("serve",
                         opened.error().code == ErrorCode::not_found ? kNoInput : kUnavailable,
                         opened.error().message);
    folder = std::move(*opened);
  }
  const std::filesystem::path store = options.store.empty() ? workspace->paths.default_store()
                                                            : std::filesystem::path(options.store);
  const auto guides = operators::load_guides(workspace->paths.operators() / "guides");
  if (!guides) return print_error("serve", kBadConfig, guides.error().message);
  const auto examples = operators::ExampleSearch::load(workspace->paths.operators() / "examples");
  if (!examples) return print_error("serve", kBadConfig, examples.error().message);
  Result<std::unique_ptr<ServerServices>> backend =
      ServerServices::open(store, workspace->catalog, std::move(devices->all),
                           {.mode = StoreMode::write_when_possible,
                            .queue = {.shares = *shares},
                            .store = *limits,
                            .job_ended = observer->jobs(),
                            .practice_if_in_use = !http && !options.require_store});
  if (!backend) return print_error("serve", kStoreUnusable, backend.error().message);
  const auto recovered = (*backend)->jobs().recover();
  if (!recovered) return print_error("serve", kStoreUnusable, recovered.error().message);

  std::string instructions = kInstructions;
  if (const std::string& only = (*backend)->practice_only(); !only.empty()) {
    log::warning("this server is for practice only", {{"reason", only}});
    instructions += " This server is for practice only: " + only;
  }
  if (folder) instructions += " The source folder, for `path`, is " + folder->name() + ".";
  StoredTasks tasks((*backend)->store());
  mcp::Server server(
      {.name = "assay", .title = "Assay", .version = ASSAY_VERSION, .instructions = instructions},
      {}, {.task_store = &tasks, .observer = observer->calls()});
  const tools::Services services = {.catalog = workspace->catalog,
                                    .runs = (*backend)->runs(),
                                    .jobs = (*backend)->jobs(),
                                    .artifacts = (*backend)->artifacts(),
                                    .job_limits = options.sandbox.limits,
                                    .examples = examples->get(),
                                    .guides = &*guides,
                                    .source_folder = folder ? &*folder : nullptr};
  // The tools note which verdicts were read, so that the inputs of a group are not used again.
  InputGroups groups(services.clock);
  WatchedJobs watched((*backend)->jobs(), groups);
  tools::Services tool_services{.catalog = services.catalog,
                                .runs = services.runs,
                                .jobs = watched,
                                .artifacts = services.artifacts,
                                .limits = services.limits,
                                .job_limits = services.job_limits,
                                .examples = services.examples,
                                .guides = services.guides,
                                .source_folder = services.source_folder};
  EvaluateApi api(services, groups);
  if (http) http->options.application = &api;
  if (const Status added = register_all(server, tool_services, *guides); !added)
    return print_error("serve", kInternal, added.error().message);
  if (http)
    http->options.more_metrics = [&](mcp::MetricsText& text) {
      write_server_metrics(text, {.version = ASSAY_VERSION,
                                  .loads = (*backend)->jobs().load(),
                                  .store = store,
                                  .store_writable = (*backend)->store().writable(),
                                  .draining = http->options.draining && http->options.draining()});
      write_worker_metrics(text, reports_of(devices->pools));
      observer->write_metrics(text);
    };
  std::unique_ptr<site::LivePages> pages;
  if (http) pages = make_pages(*workspace, store, **backend, groups);
  if (http) http->options.pages = pages.get();
  return serve_jobs(server, http, *observer, (*backend)->jobs(), options);
}

}  // namespace

void add_serve(CLI::App& app, int& status) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Serve the tools over MCP, on stdio or HTTP");
  auto* stdio =
      command->add_flag("--stdio", options->stdio, "speak on stdin and stdout (the default)");
  add_http_flags(*command, options->http);
  command->get_option("--http")->excludes(stdio);
  const auto set_devices = [options](const std::vector<std::string>& devices) {
    options->devices = devices;
    options->devices_given = true;
  };
  command
      ->add_option_function<std::vector<std::string>>(
          "--device", set_devices,
          sandbox::device_option_help() + "; may be repeated; the first is the default")
      ->default_str(sandbox::kAutoDevice);
  add_worker_options(*command, options->workers);
  command->add_option("--shares-file", options->shares_file,
                      "TOML file with the weights and limits of tokens and runs, and the reserve "
                      "for clients that wait; SIGHUP changes them");
  command->add_option("--store", options->store, "SQLite file (default: in the state directory)");
  command->add_flag("--require-store", options->require_store,
                    "on stdio: end with status 73 if another Assay uses the store, instead of "
                    "serving practice only, from a temporary store");
  command
      ->add_option("--drain-s", options->drain_s,
                   "time in seconds that jobs in progress have to end after SIGTERM; 0: stop at "
                   "once")
      ->check(CLI::Range(std::int64_t{0}, kMostDrainS))
      ->capture_default_str();
  command->add_option("--suite", options->suite,
                      "a folder of operators to serve instead of Assay's own");
  add_store_options(*command, options->limits);
  add_sandbox_options(*command, options->sandbox);
  add_log_options(*command, options->log);
  add_observe_options(*command, options->observe);
  command
      ->add_option("--source-folder", options->source_folder,
                   "on stdio: a folder whose files, and those of its subfolders, a client may name "
                   "as sources (`path`); their lines can appear in answers")
      ->excludes(command->get_option("--http"));
  auto* client = command->add_option(
      "--print-config", options->print_config,
      "print the configuration with which this client uses the server that the other "
      "options describe, and exit: " +
          client_names());
  command
      ->add_option("--config-file", options->config_file,
                   "with --print-config: write the configuration into this file, which keeps its "
                   "other servers and settings")
      ->needs(client);
  command->add_flag(
      "--conformance", options->conformance,
      "serve the fixtures of the official conformance suite instead of Assay's tools (no store, no "
      "devices)");
  command->callback([options, &status] { status = serve(*options); });
}

}  // namespace assay::server
