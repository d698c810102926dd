// Implements `assay site`, which writes a static web site of all runs of one or more stores, and of
// bundles from outside, whose submissions it can judge again.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/stderr_line.h"
#include "base/text.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/app/option_groups.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/bundle/run_bundle.h"
#include "server/commands/commands.h"
#include "server/site/bundle.h"
#include "server/site/claims.h"
#include "server/site/write_data.h"

namespace assay::server {
namespace {

constexpr const char* kSite = "site";
constexpr const char* kFakeDevice = "fake";

struct SiteCommandOptions {
  std::string out;
  std::string title = "Assay leaderboard";
  std::string sources = "models";
  std::vector<std::string> stores, suites, bundles;
  bool verify = false;
  std::string device = sandbox::kAutoDevice;
  SandboxOptions sandbox;
};

/// The bundles, as stores in a folder that exists as long as this object.
class ClaimedStores {
 public:
  ClaimedStores() = default;
  ClaimedStores(const ClaimedStores&) = delete;
  ClaimedStores& operator=(const ClaimedStores&) = delete;
  ~ClaimedStores() {
    std::error_code ignored;  // the folder is in the system's folder for temporary files
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  /// Returns the path of a new store.
  Result<std::filesystem::path> next() {
    if (folder_.empty()) {
      std::string name = (std::filesystem::temp_directory_path() / "assay-site-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) return fail_errno("mkdtemp " + name);
      folder_ = name;
    }
    return folder_ / (std::to_string(++count_) + ".db");
  }

 private:
  std::filesystem::path folder_;
  std::size_t count_ = 0;
};

/// Makes the device that judges the bundles. On an error, prints it and sets `status`.
std::unique_ptr<sandbox::Device> device_of(const SiteCommandOptions& options,
                                           const Workspace& workspace, int& status) {
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace.paths);
  if (!config) {
    status = print_error(kSite, kUsage, config.error().message);
    return nullptr;
  }
  const std::string name = sandbox::choose_device(options.device, *config).name;
  if (name == kFakeDevice) {
    status = print_error(kSite, kUsage, "the device fake judges nothing; valid: auto, cpu, cuda:N");
    return nullptr;
  }
  auto device = sandbox::make_device(name, *config);
  if (!device) {
    status = print_error(kSite, status_of_device_error(device.error()), device.error().message);
    return nullptr;
  }
  return std::move(*device);
}

/// Adds the bundles to the stores, and judges their submissions again if the options say so.
/// Returns false after an error, which is printed.
bool add_bundles(const SiteCommandOptions& options, const Workspace& workspace,
                 const std::vector<const operators::Catalog*>& catalogs, ClaimedStores& folder,
                 std::vector<site::DataStore>& stores, int& status) {
  std::unique_ptr<sandbox::Device> device;
  if (options.verify && !(device = device_of(options, workspace, status))) return false;
  for (const std::string& path : options.bundles) {
    const auto refuse = [&](const Error& error) {
      status = print_error(kSite, error.code == ErrorCode::not_found ? kNoInput : kBadData,
                           path + ": " + error.message);
      return false;
    };
    const Result<std::string> file =
        read_file_bytes(path, static_cast<std::int64_t>(bundle::kMaxEnvelopeBytes), "a bundle");
    if (!file) return refuse(file.error());
    const Result<bundle::RunBundle> run = bundle::read_bundle(*file);
    if (!run) return refuse(run.error());
    const Result<std::filesystem::path> store = folder.next();
    if (!store) return refuse(store.error());
    const auto same = std::find_if(catalogs.begin(), catalogs.end(), [&](const auto* catalog) {
      return catalog->suite().digest == run->run.suite_id.digest;
    });
    site::JudgedClaims claims;
    if (device)
      claims = site::judge_claims(
          *run, same == catalogs.end() ? workspace.catalog : **same, *device,
          options.sandbox.limits, [&](const bundle::BundledJob& job, const site::Check& check) {
            stderr_line(path + ": " + escape_line(job.operator_name) + ": " +
                        std::string(to_string(check.state)) +
                        (check.note.empty() ? "" : ". " + escape_line(check.note)));
          });
    if (const Status written = site::write_claimed_store(*run, *store, claims.verdicts); !written)
      return refuse(written.error());
    stores.push_back(
        {.path = *store, .origin = run->fingerprint, .checks = std::move(claims.checks)});
  }
  return true;
}

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
  std::optional<Workspace> workspace = open_workspace(kSite, status);
  if (!workspace) return status;
  const std::vector<operators::Catalog> others = load_suites(options.suites, status);
  if (status != kPass) return status;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Status added = add_imported_folders(others[i], options.suites[i], workspace->paths);
    if (!added) return print_error(kSite, kUsage, added.error().message);
  }
  std::vector<const operators::Catalog*> catalogs = {&workspace->catalog};
  for (const operators::Catalog& catalog : others) catalogs.push_back(&catalog);
  std::vector<site::DataStore> stores;
  for (const std::string& store : options.stores) stores.push_back({.path = store});
  if (stores.empty() && options.bundles.empty())
    stores.push_back({.path = workspace->paths.default_store()});

  const Result<site::Bundle> pages = site::find_bundle(workspace->paths.root);
  if (!pages) return print_error(kSite, kUnavailable, pages.error().message);
  ClaimedStores claimed;
  if (!add_bundles(options, *workspace, catalogs, claimed, stores, status)) return status;
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
  if (const Status copied = site::copy_bundle(*pages, options.out); !copied)
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
  command
      ->add_option("--bundle", options->bundles,
                   "a file of `assay export run` from outside, whose run is shown too; may be "
                   "repeated")
      ->allow_extra_args(false);
  auto* verify = command->add_flag("--verify", options->verify,
                                   "judge the submissions of the bundles again, and mark each as "
                                   "verified here, claimed or disputed");
  command->add_option("--device", options->device, sandbox::device_option_help())
      ->needs(verify)
      ->capture_default_str();
  add_sandbox_options(*command, options->sandbox);
  command->add_option("--title", options->title, "the title of the site")->capture_default_str();
  command->callback([options, &status] { status = run_site(*options); });
}

}  // namespace assay::server
