// Implements `assay site`, which writes a static web site of all runs of one or more stores.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/app/exit_status.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/site/bundle.h"
#include "server/site/write_data.h"

namespace assay::server {
namespace {

constexpr const char* kSite = "site";

struct SiteCommandOptions {
  std::string out;
  std::string title = "Assay leaderboard";
  std::string sources = "models";
  std::vector<std::string> stores, suites;
};

int status_of_site_error(const Error& error) {
  if (error.code == ErrorCode::invalid_argument) return kUsage;
  if (error.code == ErrorCode::unavailable) return kUnavailable;
  return status_of_report_error(error);
}

/// Returns the catalogs of the other suites. On an error, prints it and sets `status`.
std::vector<operators::Catalog> load_suites(const std::vector<std::string>& folders, int& status) {
  std::vector<operators::Catalog> catalogs;
  for (const std::string& folder : folders) {
    Result<operators::Catalog> catalog = operators::Catalog::load(folder);
    if (!catalog) {
      status = print_error(kSite, kBadConfig, catalog.error().message);
      return {};
    }
    catalogs.push_back(std::move(*catalog));
  }
  return catalogs;
}

int run_site(const SiteCommandOptions& options) {
  int status = kPass;
  const Result<site::ShownSources> sources = site::shown_sources_from(options.sources);
  if (!sources) return print_error(kSite, kUsage, sources.error().message);
  const std::optional<Workspace> workspace = open_workspace(kSite, status);
  if (!workspace) return status;
  const std::vector<operators::Catalog> others = load_suites(options.suites, status);
  if (status != kPass) return status;
  std::vector<const operators::Catalog*> catalogs = {&workspace->catalog};
  for (const operators::Catalog& catalog : others) catalogs.push_back(&catalog);
  std::vector<site::DataStore> stores;
  for (const std::string& store : options.stores) stores.push_back({.path = store});
  if (stores.empty()) stores.push_back({.path = workspace->paths.default_store()});

  const Result<site::Bundle> bundle = site::find_bundle(workspace->paths.root);
  if (!bundle) return print_error(kSite, kUnavailable, bundle.error().message);
  if (const Status ready = site::prepare_folder(options.out); !ready)
    return print_error(kSite, status_of_site_error(ready.error()), ready.error().message);
  site::DataOptions data;
  data.title = options.title;
  data.assay = ASSAY_VERSION;
  data.sources = *sources;
  data.written_unix_ms = system_clock().unix_ms();
  site::FolderSink sink(options.out);
  const Result<site::DataSummary> written = site::write_data(data, stores, catalogs, sink);
  if (!written)
    return print_error(kSite, status_of_site_error(written.error()), written.error().message);
  if (const Status copied = site::copy_bundle(*bundle, options.out); !copied)
    return print_error(kSite, kUnavailable, copied.error().message);
  std::printf("%s/index.html: %zu runs, %zu lines of the leaderboard, %zu attempts\n",
              options.out.c_str(), written->runs, written->groups, written->attempts);
  return kPass;
}

}  // namespace

void add_site(CLI::App& app, int& status) {
  auto options = std::make_shared<SiteCommandOptions>();
  CLI::App* command =
      app.add_subcommand("site", "Write a static web site with a leaderboard of all runs");
  command->add_option("--out", options->out, "the folder of the site: new, empty or an older site")
      ->required();
  command->add_option("stores", options->stores,
                      "the stores that hold the runs (default: the user's)");
  command
      ->add_option("--suite", options->suites,
                   "the folder of another suite that runs have; repeat it for several")
      ->allow_extra_args(false);
  command
      ->add_option("--sources", options->sources,
                   "the submissions whose sources are published: models (of runs in which a model "
                   "answered; simulated models submit changed oracles), none, all")
      ->capture_default_str();
  command->add_option("--title", options->title, "the title of the site")->capture_default_str();
  command->callback([options, &status] { status = run_site(*options); });
}

}  // namespace assay::server
