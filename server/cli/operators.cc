// `assay operators list|show|lint`: the catalog, one operator in full, and the proof that operators are sound.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/device/lint.h"
#include "server/cli/commands.h"
#include "server/cli/common.h"
#include "tools/grading.h"
#include "tools/operator_job.h"

namespace assay::server {
namespace {

struct OperatorsOptions {
  std::vector<std::string> names;
  std::string device = "cpu";
  std::string isolation = "best-effort";
  std::string suite;
};

/// The named operators, or all; nullopt after complaining about an unknown name.
std::optional<std::vector<const operators::Operator*>> choose(const operators::Catalog& catalog, const std::vector<std::string>& names, int& status) {
  std::vector<const operators::Operator*> chosen;
  if (names.empty()) {
    for (const operators::Operator& op : catalog.all()) chosen.push_back(&op);
  }
  for (const std::string& name : names) {
    const operators::Operator* op = catalog.find(name);
    if (op == nullptr) {
      status = complain("operators", kUnknownName, catalog.unknown(name).message);
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
    std::printf("%-24s %-9s %-14s %-7s %d  %s\n", op->name.c_str(), std::string(to_string(op->split)).c_str(), op->family.c_str(), op->dialect.c_str(), op->difficulty, op->summary.c_str());
  }
  return kPass;
}

void print_operator(const operators::Operator& op) {
  std::printf("%s (%s, %s, %s, difficulty %d)\n%s\n\n%s\n", op.signature.c_str(), std::string(to_string(op.split)).c_str(), op.family.c_str(), op.dialect.c_str(), op.difficulty,
              op.summary.c_str(), op.description.c_str());
  for (const operators::Case& item : op.cases) {
    std::string axes;
    for (const auto& [axis, extent] : item.axes) axes += " " + axis + "=" + std::to_string(extent);
    std::printf("  %-20s %-7s %-9s %-14s%s%s\n", item.id.c_str(), item.hidden ? "hidden" : "public", item.dtype.c_str(), item.distribution.c_str(), axes.c_str(),
                item.interpreter ? "  (interpreter)" : "");
  }
  std::printf("\n%s\n", op.reference_source.c_str());
}

int show(const OperatorsOptions& options) {
  int status = kPass;
  const auto workspace = open_workspace("operators", status, options.suite);
  if (!workspace) return status;
  if (options.names.empty()) return complain("operators show", kUsage, "name at least one operator; `assay operators list` names all " + std::to_string(workspace->catalog.all().size()));
  const auto chosen = choose(workspace->catalog, options.names, status);
  if (!chosen) return status;
  for (const operators::Operator* op : *chosen) print_operator(*op);
  return kPass;
}

// Product of the axes up to which a CPU judge checks a case in a moment; the large ones are linted on a GPU.
constexpr double kSmallVolume = 1 << 20;

double volume(const operators::Case& item) {
  double product = 1;
  for (const auto& [axis, extent] : item.axes) product *= static_cast<double>(extent);
  return product;
}

constexpr const char* kRecordTarget = "cuda:90";

/// Without a GPU: the oracle compiles, and every case, also those that are too large to be run here, becomes a launch plan.
sandbox::Verdict record_every_case(const operators::Operator& op, sandbox::Device& device) {
  sandbox::JobMonitor monitor;
  sandbox::Job job = tools::operator_job(op, sandbox::JobKind::grade, op.oracle_source);
  job.kind = sandbox::JobKind::compile;
  job.every_case = true;
  job.targets = {kRecordTarget};
  job.baseline_source.clear();
  return device.execute(job, monitor);
}

/// Checks the operator itself, then that its oracle passes. Prints a line per failure and one in all; false when anything failed.
bool lint_one(const operators::Operator& op, const std::string& device_name, sandbox::Linter& linter, sandbox::Device& device) {
  std::vector<sandbox::CaseRequest> cases;
  for (const operators::Case& item : op.cases) {
    if (device_name != "cpu" || item.interpreter || volume(item) <= kSmallVolume) cases.push_back(tools::case_request(item));
  }
  int failed = 0;
  int mutants = 0;
  int killed = 0;
  const auto checks = linter.lint(op.directory.string(), cases);
  if (!checks) {
    std::printf("FAIL %s: %s\n", op.name.c_str(), checks.error().message.c_str());
    return false;
  }
  for (const sandbox::LintCheck& check : *checks) {
    const bool mutant = check.check.rfind("rejects ", 0) == 0;
    mutants += mutant;
    killed += mutant && check.ok;
    if (check.ok) continue;
    ++failed;
    std::printf("FAIL %s, case %s, %s: %s\n", op.name.c_str(), check.case_id.c_str(), check.check.c_str(), check.detail.c_str());
  }
  sandbox::JobMonitor monitor;
  sandbox::Job job = tools::operator_job(op, sandbox::JobKind::grade, op.oracle_source);
  job.baseline_source.clear();  // the oracle is what is judged: nothing to compare it with
  const sandbox::Verdict verdict = device.execute(job, monitor);
  const bool only_compiles = verdict.error_kind == sandbox::ErrorKind::unsupported && !verdict.kernels.empty();
  if (verdict.outcome != sandbox::Outcome::pass && !only_compiles) {
    ++failed;
    std::printf("FAIL %s, oracle: %s\n", op.name.c_str(), verdict.summary.c_str());
  }
  std::string tier;
  if (device_name == "cpu") {
    const sandbox::Verdict recorded = record_every_case(op, device);
    if (recorded.outcome == sandbox::Outcome::pass) {
      tier = "; all " + std::to_string(op.cases.size()) + " cases record for " + kRecordTarget;
    } else {
      ++failed;
      std::printf("FAIL %s, oracle recorded for %s: %s\n", op.name.c_str(), kRecordTarget, recorded.summary.c_str());
    }
  }
  std::printf("%s %-24s %zu checks, %d of %d mutants killed, oracle %s%s\n", failed == 0 ? "ok  " : "FAIL", op.name.c_str(), checks->size(), killed, mutants,
              only_compiles ? ("compiles; " + verdict.detail).c_str() : std::string(to_string(verdict.outcome)).c_str(), tier.c_str());
  return failed == 0;
}

int lint(const OperatorsOptions& options) {
  int status = kPass;
  const auto workspace = open_workspace("operators", status, options.suite);
  if (!workspace) return status;
  const auto chosen = choose(workspace->catalog, options.names, status);
  if (!chosen) return status;
  const Result<IsolationChoice> isolation = isolation_from(options.isolation);
  if (!isolation) return complain("operators lint", kUsage, isolation.error().message);
  sandbox::SandboxConfig config = sandbox_config(workspace->paths, isolation->isolation);
  config.spawn = isolation->spawn;
  const auto device = sandbox::make_device(options.device, config);
  if (!device) return complain("operators lint", status_of_device_error(device.error()), device.error().message);
  sandbox::Linter linter(config, options.device);
  std::size_t sound = 0;
  for (const operators::Operator* op : *chosen) {
    sound += lint_one(*op, options.device, linter, **device);
    std::fflush(stdout);
  }
  std::printf("%zu of %zu operators are sound on %s\n", sound, chosen->size(), options.device.c_str());
  return sound == chosen->size() ? kPass : kFail;
}

}  // namespace

void add_operators(CLI::App& app, int& status) {
  auto options = std::make_shared<OperatorsOptions>();
  CLI::App* group = app.add_subcommand("operators", "The tasks: list them, show one, prove that they are sound");
  group->require_subcommand(1);
  group->add_option("--suite", options->suite, "a folder of operators to take instead of Assay's own");
  CLI::App* list_command = group->add_subcommand("list", "one line each: name, split, family, dialect, difficulty, summary");
  list_command->add_option("names", options->names, "only these");
  list_command->callback([options, &status] { status = list(*options); });
  CLI::App* show_command = group->add_subcommand("show", "one operator in full, hidden cases included: for maintainers");
  show_command->add_option("names", options->names, "operators");
  show_command->callback([options, &status] { status = show(*options); });
  CLI::App* lint_command = group->add_subcommand("lint", "the reference is right with itself, every mutant fails, the oracle passes");
  lint_command->add_option("names", options->names, "only these");
  lint_command->add_option("--device", options->device, "cpu or cuda:N")->capture_default_str();
  lint_command->add_option("--isolation", options->isolation, "strict or best-effort")->capture_default_str();
  lint_command->callback([options, &status] { status = lint(*options); });
}

}  // namespace assay::server
