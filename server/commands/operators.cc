// Implements `assay operators list|show|lint|compiled`. `list` lists the catalog, `show` shows
// operators in full, and `lint` checks that operators are sound. `compiled` times the operators'
// references, compiled with torch.compile. new_operator.cc implements `operators new`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/device/compiled_timer.h"
#include "sandbox/device/make_device.h"
#include "sandbox/job/processors.h"
#include "server/app/exit_status.h"
#include "server/app/option_groups.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/commands/new_operator.h"
#include "server/lint/run.h"
#include "tools/model/operator_job.h"

namespace assay::server {
namespace {

struct OperatorsOptions {
  std::vector<std::string> names;
  std::string device = "cpu";
  std::string isolation = "best-effort";
  std::string suite;
  std::string out;
  bool fresh = false;
  int jobs = 1;
  std::uint32_t seed = 1;
};

constexpr int kMostLintJobs = 64;

/// Returns the named operators, or all operators if there are no names. If a name is unknown,
/// prints an error, sets `status` and returns nullopt.
std::optional<std::vector<const operators::Operator*>> choose(const operators::Catalog& catalog,
                                                              const std::vector<std::string>& names,
                                                              int& status) {
  std::vector<const operators::Operator*> chosen;
  if (names.empty()) {
    for (const operators::Operator& op : catalog.all()) chosen.push_back(&op);
  }
  for (const std::string& name : names) {
    const operators::Operator* op = catalog.find(name);
    if (op == nullptr) {
      status = print_error("operators", kUnknownName, catalog.unknown(name).message);
      return std::nullopt;
    }
    chosen.push_back(op);
  }
  return chosen;
}

int list(const OperatorsOptions& options) {
  int status = kPass;
  const auto workspace = open_workspace("operators", status, options.suite);
  if (!workspace) return status;
  const auto chosen = choose(workspace->catalog, options.names, status);
  if (!chosen) return status;
  for (const operators::Operator* op : *chosen) {
    std::printf("%-24s %-9s %-14s %-7s %d  %s\n", op->name.c_str(),
                std::string(to_string(op->split)).c_str(), op->family.c_str(), op->dialect.c_str(),
                op->difficulty, op->summary.c_str());
  }
  return kPass;
}

void print_operator(const operators::Operator& op) {
  std::printf("%s (%s, %s, %s, difficulty %d)\n%s\n\n%s\n", op.signature.c_str(),
              std::string(to_string(op.split)).c_str(), op.family.c_str(), op.dialect.c_str(),
              op.difficulty, op.summary.c_str(), op.description.c_str());
  for (const operators::Case& item : op.cases) {
    std::string axes;
    for (const auto& [axis, extent] : item.axes) axes += " " + axis + "=" + std::to_string(extent);
    std::printf("  %-20s %-7s %-9s %-14s%s%s\n", item.id.c_str(), item.hidden ? "hidden" : "public",
                item.dtype.c_str(), item.distribution.c_str(), axes.c_str(),
                item.interpreter ? "  (interpreter)" : "");
  }
  std::printf("\n%s\n", op.reference_source.c_str());
}

int show(const OperatorsOptions& options) {
  int status = kPass;
  const auto workspace = open_workspace("operators", status, options.suite);
  if (!workspace) return status;
  if (options.names.empty())
    return print_error("operators show", kUsage,
                       "name at least one operator; `assay operators list` names all " +
                           std::to_string(workspace->catalog.all().size()));
  const auto chosen = choose(workspace->catalog, options.names, status);
  if (!chosen) return status;
  for (const operators::Operator* op : *chosen) print_operator(*op);
  return kPass;
}

bool write_reports(const OperatorsOptions& options, const sandbox::DeviceInfo& device,
                   const std::vector<LintReport>& reports) {
  nlohmann::json list = nlohmann::json::array();
  for (const LintReport& report : reports) list.push_back(lint_to_json(report));
  std::ofstream file(options.out);
  file << nlohmann::json{{"format", "assay.lint/1"},
                         {"device", device.name},
                         {"device_description", device.description},
                         {"operators", list}}
              .dump(1)
       << "\n";
  return static_cast<bool>(file.flush());
}

int lint(const OperatorsOptions& options) {
  int status = kPass;
  const auto workspace = open_workspace("operators", status, options.suite);
  if (!workspace) return status;
  const auto chosen = choose(workspace->catalog, options.names, status);
  if (!chosen) return status;
  SandboxOptions sandbox;
  sandbox.isolation = options.isolation;
  sandbox.allow_unjailed = true;  // only the operators' own code runs
  // Several jobs can share the GPU. An oracle's job mostly compiles and computes references; only
  // its timing needs the GPU exclusively.
  sandbox.gpu_sharers = std::min(options.jobs, kMostGpuSharers);
  const Result<sandbox::SandboxConfig> config = sandbox_config(sandbox, workspace->paths);
  if (!config) return print_error("operators lint", kUsage, config.error().message);
  const auto device = sandbox::make_device(options.device, *config);
  if (!device)
    return print_error("operators lint", status_of_device_error(device.error()),
                       device.error().message);
  const LintCache cache(
      workspace->paths.state / "lint",
      content_of_judges(workspace->paths, (*device)->info()) + std::to_string(options.seed),
      options.fresh);
  LintRun run(**device, *config, cache, options.seed);
  std::size_t known = 0;
  const std::vector<LintReport> reports = run.lint(*chosen, static_cast<std::size_t>(options.jobs),
                                                   [&](const LintReport& report, bool is_known) {
                                                     known += is_known;
                                                     std::fputs(lint_text(report).c_str(), stdout);
                                                     std::fflush(stdout);
                                                   });
  const auto sound = static_cast<std::size_t>(std::count_if(
      reports.begin(), reports.end(), [](const LintReport& one) { return one.is_sound(); }));
  const std::string unchanged =
      known == 0 ? ""
                 : " (" + std::to_string(known) +
                       " of them unchanged since they were linted; --fresh lints them again)";
  std::printf("%zu of %zu operators are sound on %s%s\n", sound, chosen->size(),
              options.device.c_str(), unchanged.c_str());
  bool unsound = false;
  for (const LintReport& report : reports) {
    unsound = unsound || !report.failures.empty();
    if (!report.failures.empty())
      std::printf("not sound: %s (%zu failures)\n", report.name.c_str(), report.failures.size());
    else if (!report.undecided.empty())
      std::printf("not decided: %s\n", report.name.c_str());
  }
  if (!options.out.empty() && !write_reports(options, (*device)->info(), reports))
    return print_error("operators lint", kNoInput, "cannot write " + options.out);
  if (unsound) return kFail;
  return sound == chosen->size() ? kPass : kError;
}

std::string compiled_text(const std::string& name, const sandbox::CompiledTimes& times) {
  std::string text;
  for (const sandbox::CompiledTime& one : times.cases) {
    char figure[48];
    std::snprintf(figure, sizeof(figure), "%12.1f us", one.ns.value_or(0) / 1e3);
    text +=
        name + " " + one.case_id + (one.ns ? figure : " unsupported: " + one.unsupported) + "\n";
  }
  return text;
}

int compiled(const OperatorsOptions& options) {
  constexpr const char* kCommand = "operators compiled";
  int status = kPass;
  const auto workspace = open_workspace("operators", status, options.suite);
  if (!workspace) return status;
  const auto chosen = choose(workspace->catalog, options.names, status);
  if (!chosen) return status;
  const sandbox::SandboxConfig config =
      sandbox_config(workspace->paths, sandbox::Isolation::best_effort);
  sandbox::CompiledTimer timer(config, options.device);
  for (const operators::Operator* op : *chosen) {
    sandbox::Job job = tools::operator_job(*op, sandbox::JobKind::grade, "");
    job.id = "compiled_" + op->name;
    const Result<std::string> path = timer.path_of(job);
    if (!path) return print_error(kCommand, kUnavailable, path.error().message);
    if (!options.fresh && sandbox::read_compiled_times(*path)) continue;
    const Result<sandbox::CompiledTimes> times = timer.time(job);
    if (times)
      std::fputs(compiled_text(op->name, *times).c_str(), stdout);
    else
      status = print_error(kCommand, kFail, op->name + ": " + times.error().message);
    std::fflush(stdout);
  }
  return status;
}

}  // namespace

void add_operators(CLI::App& app, int& status) {
  auto options = std::make_shared<OperatorsOptions>();
  CLI::App* group =
      app.add_subcommand("operators", "List the operators, show one, check that they are sound");
  group->require_subcommand(1);
  // The object of the options owns the text.
  const std::shared_ptr<std::string> suite(options, &options->suite);
  group->add_option("--suite", *suite, "a folder of operators to use instead of Assay's own");
  add_new_operator(*group, suite, status);
  CLI::App* list_command = group->add_subcommand(
      "list",
      "List operators, one on each line: name, split, family, dialect, difficulty, summary");
  list_command->add_option("names", options->names, "the operators (default: all)");
  list_command->callback([options, &status] { status = list(*options); });
  CLI::App* show_command = group->add_subcommand(
      "show", "Show operators in full, with their hidden cases; for maintainers");
  show_command->add_option("names", options->names, "the operators, at least one");
  show_command->callback([options, &status] { status = show(*options); });
  CLI::App* lint_command = group->add_subcommand(
      "lint",
      "Check that the reference agrees with itself, every mutant fails and the oracle passes");
  lint_command->add_option("names", options->names, "the operators (default: all)");
  lint_command->add_option("--device", options->device, sandbox::device_names_help())
      ->capture_default_str();
  lint_command->add_option("--isolation", options->isolation, "strict or best-effort")
      ->capture_default_str();
  options->jobs = std::clamp(sandbox::usable_processors(), 1, kMostLintJobs);
  lint_command
      ->add_option("--jobs", options->jobs,
                   "operators to lint at once; each takes a core and about 400 MiB")
      ->check(CLI::Range(1, kMostLintJobs))
      ->capture_default_str();
  lint_command->add_flag(
      "--fresh", options->fresh,
      "lint also the operators that have not changed since they were found sound");
  lint_command
      ->add_option("--seed", options->seed,
                   "the seed of the mutants' inputs; the oracle gets new inputs each time")
      ->capture_default_str();
  lint_command->add_option("--out", options->out, "write the results to this file, as JSON");
  lint_command->callback([options, &status] { status = lint(*options); });
  CLI::App* compiled_command = group->add_subcommand(
      "compiled", "Time the references as torch.compile makes them, for verdicts and reports");
  compiled_command->add_option("names", options->names, "the operators (default: all)");
  compiled_command
      ->add_option("--device", options->device, "cpu or cuda:N; nothing else should use it")
      ->capture_default_str();
  compiled_command->add_flag("--fresh", options->fresh,
                             "time also the operators that have times of this device");
  compiled_command->callback([options, &status] { status = compiled(*options); });
}

}  // namespace assay::server
