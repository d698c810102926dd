// Implements `assay eval OPERATOR FILE`, which judges one submission without an agent and without a
// store. The exit status is 0 for pass, 1 for fail, 2 for error. `assay eval OPERATOR --plan FILE`
// judges launch plans that were recorded earlier, without the submission.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "sandbox/job/target.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/app/option_groups.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/plan_text/plan_source.h"
#include "tools/answer/verdict_answer.h"
#include "tools/json/verdict_json.h"
#include "tools/model/operator_job.h"

namespace assay::server {
namespace {

struct EvalOptions {
  std::string operator_name, file;
  std::string device = sandbox::kAutoDevice;
  std::string mode = "grade";
  std::string case_id;
  std::string language;
  std::vector<std::string> targets;
  std::vector<std::string> plans;  // replaces `file`
  std::string store, artifacts, suite;
  SandboxOptions sandbox;
  bool json = false;
};

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr const char* kModes = "compile, test, profile, grade";

/// Returns the language that the extension of a file implies.
std::string language_of(const std::string& file) {
  return std::string(file.ends_with(".cu") ? sandbox::kCudaCpp : sandbox::kPython);
}

/// Returns the job that the options describe. Errors: invalid_argument if the language is invalid;
/// not_found if the case is unknown.
Result<sandbox::Job> make_job(const operators::Operator& op, const EvalOptions& options,
                              sandbox::JobKind kind, std::string source) {
  sandbox::Job job = tools::operator_job(op, kind, std::move(source));
  if (const Status chosen = tools::choose_language(
          job, options.language.empty() ? language_of(options.file) : options.language);
      !chosen)
    return fail(chosen.error());
  job.targets = options.targets;
  if (kind == sandbox::JobKind::compile && job.targets.empty())
    job.targets = {std::string(sandbox::kDefaultTarget)};
  if (options.case_id.empty()) {
    if (kind == sandbox::JobKind::profile) {
      if (const Status chosen = tools::choose_case(job, ""); !chosen) return fail(chosen.error());
    }
    return job;
  }
  // A maintainer may run a single hidden case. So the case is looked up among all cases, public and
  // hidden.
  job.cases = tools::operator_job(op, sandbox::JobKind::grade, "").cases;
  if (const Status chosen = tools::choose_case(job, options.case_id); !chosen)
    return fail(chosen.error());
  return job;
}

/// Returns a job that replays stored plans. Each plan must belong to a different case. Errors:
/// invalid_argument if it is unclear to which case a plan belongs, or if two plans belong to the
/// same case; the errors of read_plan(). The case that --case gives must exist (has_case()).
Result<sandbox::Job> make_replay(const operators::Operator& op, const EvalOptions& options,
                                 sandbox::JobKind kind, const std::filesystem::path& store) {
  sandbox::Job job = tools::operator_job(op, kind, "");
  const std::vector<sandbox::CaseRequest> all =
      tools::operator_job(op, sandbox::JobKind::grade, "").cases;
  for (const std::string& word : options.plans) {
    const NamedPlan given = named_plan(op, word);
    Result<StoredPlan> stored = read_plan(given.where, store);
    if (!stored) return fail(stored.error());
    const std::string& named = given.case_id.empty() ? options.case_id : given.case_id;
    const Result<std::string> id =
        named.empty() ? case_of_plan(op, stored->plan) : Result<std::string>(named);
    if (!id) return fail(id.error().code, given.where + ": " + id.error().message);
    if (!job.plans.emplace(*id, std::move(stored->bytes)).second)
      return fail(ErrorCode::invalid_argument,
                  given.where + ": case '" + *id + "' has a plan already");
  }
  if (!options.case_id.empty()) {
    job.cases = all;
    if (const Status chosen = tools::choose_case(job, options.case_id); !chosen)
      return fail(chosen.error());
    return job;
  }
  job.cases.clear();
  for (const sandbox::CaseRequest& one : all) {
    if (job.plans.contains(one.id)) job.cases.push_back(one);
  }
  return job;
}

/// Returns an error if the operator has no case, public or hidden, with the name that --case gives.
Status has_case(const operators::Operator& op, const std::string& case_id) {
  if (case_id.empty()) return {};
  sandbox::Job all = tools::operator_job(op, sandbox::JobKind::grade, "");
  return tools::choose_case(all, case_id);
}

int status_of_replay_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument ? kUsage : status_of_plan_error(error);
}

/// Returns a sentence that says which options contradict each other, or "" if no options do.
std::string contradiction(const EvalOptions& options, sandbox::JobKind kind) {
  if (options.plans.empty())
    return options.file.empty() ? "give a submission's file, or --plan" : "";
  if (!options.file.empty()) return "--plan replaces a submission's file; give one of them";
  if (kind == sandbox::JobKind::compile)
    return "a stored plan is compiled already; --mode can be test, profile, grade";
  const bool one_case = kind == sandbox::JobKind::profile || !options.case_id.empty();
  return one_case && options.plans.size() > 1
             ? "--case and --mode profile take one case, so give one plan"
             : "";
}

int exit_status(sandbox::Outcome outcome) {
  switch (outcome) {
    case sandbox::Outcome::pass: return kPass;
    case sandbox::Outcome::fail: return kFail;
    case sandbox::Outcome::error: return kError;
  }
  return kError;
}

int evaluate(const EvalOptions& options) {
  const auto kind = sandbox::job_kind_from(options.mode);
  if (!kind)
    return print_error("eval", kUsage, "unknown mode '" + options.mode + "'; valid: " + kModes);
  if (const std::string wrong = contradiction(options, *kind); !wrong.empty())
    return print_error("eval", kUsage, wrong);
  int status = kPass;
  const auto workspace = open_workspace("eval", status, options.suite);
  if (!workspace) return status;
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace->paths);
  if (!config) return print_error("eval", kUsage, config.error().message);
  const operators::Operator* op = workspace->catalog.find(options.operator_name);
  if (op == nullptr)
    return print_error("eval", kUnknownName,
                       workspace->catalog.unknown(options.operator_name).message);
  Result<sandbox::Job> job = sandbox::Job{};
  if (options.plans.empty()) {
    Result<std::string> source = read_source(options.file, sandbox::Limits{}.source_bytes);
    if (!source)
      return print_error("eval", source.error().code == ErrorCode::corrupt ? kBadData : kNoInput,
                         source.error().message);
    job = make_job(*op, options, *kind, std::move(*source));
    if (!job)
      return print_error("eval",
                         job.error().code == ErrorCode::invalid_argument ? kUsage : kUnknownName,
                         job.error().message);
  } else {
    if (const Status known = has_case(*op, options.case_id); !known)
      return print_error("eval", kUnknownName, known.error().message);
    job = make_replay(*op, options, *kind,
                      options.store.empty() ? workspace->paths.default_store()
                                            : std::filesystem::path(options.store));
    if (!job) return print_error("eval", status_of_replay_error(job.error()), job.error().message);
  }
  job->limits = options.sandbox.limits;
  job->want_artifacts = !options.artifacts.empty();
  if (const Status known = sandbox::check_device_option(options.device); !known)
    return print_error("eval", kUnknownName, known.error().message);
  auto device = sandbox::make_device(sandbox::choose_device(options.device, *config).name, *config);
  if (!device)
    return print_error("eval", status_of_device_error(device.error()), device.error().message);

  sandbox::JobMonitor monitor;
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  const sandbox::Verdict verdict = (*device)->execute(*job, monitor);
  const std::int64_t elapsed_ms = (system_clock().monotonic_ns() - begin_ns) / kNsPerMs;
  if (!options.artifacts.empty()) {
    if (const auto written = write_artifacts(verdict.artifacts, options.artifacts); !written)
      return print_error("eval", kUnavailable, written.error().message);
  }
  if (options.json) {
    std::printf("%s\n", tools::verdict_to_json(verdict).dump(1).c_str());
  } else {
    tools::JobStatus over;
    over.job = job->id;
    over.state = tools::JobState::finished;
    over.elapsed_ms = elapsed_ms;
    std::printf("%s\n", tools::verdict_text(verdict, over, tools::Format::detailed).c_str());
  }
  return exit_status(verdict.outcome);
}

}  // namespace

void add_eval(CLI::App& app, int& status) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      app.add_subcommand("eval", "Judge one submission: exit status 0 pass, 1 fail, 2 error");
  command->add_option("operator", options->operator_name, "an operator of `assay operators list`")
      ->required();
  command->add_option("file", options->file, "the submission; - reads standard input");
  command
      ->add_option(
          "--plan", options->plans,
          "a launch plan to judge instead of a submission: a file or an artifact's handle, "
          "after CASE= if several cases have its sizes; repeat it for more cases")
      ->allow_extra_args(false);
  command->add_option("--suite", options->suite,
                      "a folder of operators to use instead of Assay's own");
  command->add_option("--store", options->store,
                      "the store that holds the plans' artifacts (default: the user's)");
  command->add_option("--artifacts", options->artifacts,
                      "write launch plans and PTX of public cases into this folder");
  command->add_option("--device", options->device, sandbox::device_option_help())
      ->capture_default_str();
  command->add_option("--mode", options->mode, kModes)->capture_default_str();
  command->add_option("--language", options->language,
                      std::string(sandbox::kLanguageNames) +
                          " (default: by the file's ending: .cu is cuda, any other python)");
  command->add_option("--case", options->case_id, "judge only this case");
  command->add_option("--target", options->targets,
                      "for --mode compile: " + sandbox::target_names() + "; may be repeated");
  add_sandbox_options(*command, options->sandbox);
  command->add_flag("--json", options->json,
                    "print the verdict as JSON (docs/reference/verdict.md)");
  command->callback([options, &status] { status = evaluate(*options); });
}

}  // namespace assay::server
