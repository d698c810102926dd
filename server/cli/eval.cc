// `assay eval OPERATOR FILE`: one submission, one verdict, no agent and no store. Exit status 0 pass, 1 fail, 2 error.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/cli/commands.h"
#include "server/cli/common.h"
#include "server/cli/sandbox_options.h"
#include "server/cli/source_file.h"
#include "tools/operator_job.h"
#include "tools/verdict_answer.h"
#include "tools/verdict_json.h"

namespace assay::server {
namespace {

struct EvalOptions {
  std::string operator_name, file;
  std::string device = "cpu";
  std::string mode = "grade";
  std::string case_id;
  std::vector<std::string> targets;
  SandboxOptions sandbox;
  bool json = false;
};

constexpr const char* kModes = "compile, test, profile, grade";

/// The job that the options describe, or an exit status after complaining.
Result<sandbox::Job> make_job(const operators::Operator& op, const EvalOptions& options, sandbox::JobKind kind, std::string source) {
  sandbox::Job job = tools::operator_job(op, kind, std::move(source));
  job.targets = options.targets;
  if (kind == sandbox::JobKind::compile && job.targets.empty()) job.targets = {"cuda:90"};
  if (options.case_id.empty()) {
    if (kind == sandbox::JobKind::profile) {
      if (const Status chosen = tools::choose_case(job, ""); !chosen) return fail(chosen.error());
    }
    return job;
  }
  // A maintainer may look at a hidden case by itself.
  job.cases = tools::operator_job(op, sandbox::JobKind::grade, "").cases;
  if (const Status chosen = tools::choose_case(job, options.case_id); !chosen) return fail(chosen.error());
  return job;
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
  if (!kind) return complain("eval", kUsage, "unknown mode '" + options.mode + "'; valid: " + kModes);
  int status = kPass;
  const auto workspace = open_workspace("eval", status);
  if (!workspace) return status;
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace->paths);
  if (!config) return complain("eval", kUsage, config.error().message);
  const operators::Operator* op = workspace->catalog.find(options.operator_name);
  if (op == nullptr) return complain("eval", kUnknownName, workspace->catalog.unknown(options.operator_name).message);
  Result<std::string> source = read_source(options.file, sandbox::Limits{}.source_bytes);
  if (!source) return complain("eval", source.error().code == ErrorCode::corrupt ? kBadData : kNoInput, source.error().message);
  Result<sandbox::Job> job = make_job(*op, options, *kind, std::move(*source));
  if (!job) return complain("eval", kUnknownName, job.error().message);
  job->limits = options.sandbox.limits;
  auto device = sandbox::make_device(options.device, *config);
  if (!device) return complain("eval", status_of_device_error(device.error()), device.error().message);

  sandbox::JobMonitor monitor;
  const auto begin = std::chrono::steady_clock::now();
  const sandbox::Verdict verdict = (*device)->execute(*job, monitor);
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  if (options.json) {
    std::printf("%s\n", tools::verdict_to_json(verdict).dump(1).c_str());
  } else {
    tools::JobStatus over;
    over.job = job->id;
    over.state = tools::JobState::finished;
    over.elapsed_ms = elapsed.count();
    std::printf("%s\n", tools::verdict_text(verdict, over, tools::Format::detailed).c_str());
  }
  return exit_status(verdict.outcome);
}

}  // namespace

void add_eval(CLI::App& app, int& status) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Judge one submission: exit status 0 pass, 1 fail, 2 error");
  command->add_option("operator", options->operator_name, "an operator of `assay operators list`")->required();
  command->add_option("file", options->file, "the submission; - reads standard input")->required();
  command->add_option("--device", options->device, "cpu, cuda:N or fake")->capture_default_str();
  command->add_option("--mode", options->mode, kModes)->capture_default_str();
  command->add_option("--case", options->case_id, "one case instead of all of the mode's");
  command->add_option("--target", options->targets, "compile: cuda:80, cuda:90, cuda:100, hip:gfx942; may be repeated");
  add_sandbox_options(*command, options->sandbox);
  command->add_flag("--json", options->json, "the verdict as JSON (docs/verdict.md)");
  command->callback([options, &status] { status = evaluate(*options); });
}

}  // namespace assay::server
