#include "server/lint/run.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "server/lint/case_rules.h"
#include "tools/json/verdict_json.h"
#include "tools/model/operator_job.h"

namespace assay::server {
namespace {

// A case within these two limits is small enough for a judge on a CPU. kSmallVolume limits the
// product of the case's axes, which approximates the work. kSmallElements limits the number of
// elements of the case's tensors. The second limit is needed because a tensor can have the same
// axis twice. Without a GPU, a larger case is linted only if its spec has `interpreter = true`.
constexpr double kSmallVolume = 1 << 20;
constexpr double kSmallElements = 1 << 22;
constexpr double kNsPerS = 1e9;
// The share of the tolerance that the oracle's error may use. Correct kernels that sum in a
// different order need the rest of the tolerance.
constexpr double kMostOfTolerance = 0.5;

/// Measures the seconds since its construction.
class Stopwatch {
 public:
  double seconds() const {
    return static_cast<double>(system_clock().monotonic_ns() - begin_) / kNsPerS;
  }

 private:
  std::int64_t begin_ = system_clock().monotonic_ns();
};

/// What a report says about the oracle of an operator that has none.
std::string no_oracle(const operators::Operator& op) {
  return "none: Perf compares with " + std::string(title_of(op.baseline));
}

double elements_of(const std::vector<std::string>& shape, const operators::Case& item) {
  double product = 1;
  for (const std::string& extent : shape)
    product *= static_cast<double>(operators::evaluate_extent(extent, item.axes).value_or(1));
  return product;
}

double volume(const operators::Case& item) {
  double product = 1;
  for (const auto& [axis, extent] : item.axes) product *= static_cast<double>(extent);
  return product;
}

double elements_of(const operators::Operator& op, const operators::Case& item) {
  double sum = 0;
  for (const operators::Argument& argument : op.arguments)
    sum += argument.type == operators::ArgumentType::tensor ? elements_of(argument.shape, item) : 0;
  for (const operators::Output& output : op.outputs) sum += elements_of(output.shape, item);
  return sum;
}

/// Returns true if the oracle could not be imported, because the operator's dialect is not
/// installed. Only the dialect `tlx` can be missing.
bool lacks_dialect(const operators::Operator& op, const sandbox::Verdict& verdict) {
  return op.dialect == "tlx" && verdict.error_kind == sandbox::ErrorKind::unsupported &&
         verdict.stage == sandbox::Stage::import;
}

/// Returns true if the oracle of an imported operator needs the host tier, which this device does
/// not have. Then nothing can be said about the oracle here. Assay's own oracles must be
/// recordable.
bool needs_host_tier(const operators::Operator& op, const sandbox::Verdict& verdict,
                     const sandbox::DeviceInfo& device) {
  return op.imported && !device.can_time &&
         verdict.error_kind == sandbox::ErrorKind::not_recordable;
}

bool is_small(const operators::Operator& op, const operators::Case& item) {
  return volume(item) <= kSmallVolume && elements_of(op, item) <= kSmallElements;
}

/// Checks that the oracle's error leaves enough tolerance for correct kernels that sum in a
/// different order.
void check_margin(const operators::Operator& op, const sandbox::Verdict& verdict,
                  LintReport& report) {
  double tolerance = 0;
  for (const operators::Output& output : op.outputs)
    tolerance = std::max(tolerance, output.max_abs_error);
  for (const sandbox::CaseRecord& item : verdict.cases) {
    // A case that does not pass is skipped, because the verdict already describes its failure.
    const bool passes = item.outcome == sandbox::Outcome::pass;
    if (!passes || item.max_abs_error.value_or(0) <= kMostOfTolerance * tolerance) continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "its error is %.2g of %.2g allowed, and it may use half: lower the output's "
                  "`scale`, or choose inputs with a smaller effect",
                  *item.max_abs_error, tolerance);
    report.failures.push_back(op.name + ", case " + item.id + ", oracle: " + text);
  }
}

}  // namespace

std::vector<LintReport> LintRun::lint(const std::vector<const operators::Operator*>& chosen,
                                      std::size_t jobs, const Done& done) {
  std::vector<LintReport> reports(chosen.size());
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::optional<LintReport> known = cache_.find(*chosen[i]);
    reports[i].name = chosen[i]->name;
    if (!known)
      unknown.push_back(i);
    else
      done(reports[i] = std::move(*known), true);
  }
  Mutex one_at_a_time;
  std::vector<std::size_t> undecided;
  const auto finish = [&](std::size_t i) {
    const MutexLock lock(one_at_a_time);
    cache_.keep(*chosen[i], reports[i]);
    done(reports[i], false);
  };
  lint_all(chosen, unknown, jobs, reports, [&](std::size_t i) {
    if (reports[i].undecided.empty() || jobs <= 1) return finish(i);
    const MutexLock lock(one_at_a_time);
    undecided.push_back(i);
  });
  for (const std::size_t i : undecided) {
    reports[i] = LintReport();
    reports[i].name = chosen[i]->name;
  }
  lint_all(chosen, undecided, 1, reports, finish);
  return reports;
}

/// Lints the operators at `indices`. Calls finish(index) for each of them, on several threads.
void LintRun::lint_all(const std::vector<const operators::Operator*>& chosen,
                       const std::vector<std::size_t>& indices, std::size_t jobs,
                       std::vector<LintReport>& reports,
                       const std::function<void(std::size_t)>& finish) {
  const auto check = [&](std::size_t i, sandbox::Linter& linter) {
    const Stopwatch watch;
    const bool loaded = check_operator(*chosen[i], linter, reports[i]);
    reports[i].checks_s = watch.seconds();
    return loaded;
  };
  if (!device_.info().can_time) {
    for_each(indices, jobs, [&](std::size_t i, sandbox::Linter& linter) {
      const bool loaded = check(i, linter);
      const Stopwatch watch;
      if (loaded) judge_oracle(*chosen[i], reports[i]);
      reports[i].oracle_s = watch.seconds();
      finish(i);
    });
  } else {
    // The oracles are timed after all checks, because nothing else may use the GPU while an oracle
    // is timed. The flags in `loaded` are bytes, because several threads write them. In a
    // std::vector<bool>, several flags would share a byte.
    std::vector<std::uint8_t> loaded(chosen.size(), 0);
    for_each(indices, jobs,
             [&](std::size_t i, sandbox::Linter& linter) { loaded[i] = check(i, linter); });
    for_each(indices, jobs, [&](std::size_t i, sandbox::Linter&) {
      const Stopwatch watch;
      if (loaded[i] != 0) judge_oracle(*chosen[i], reports[i]);
      reports[i].oracle_s = watch.seconds();
      finish(i);
    });
  }
}

/// Calls `step` for each index, on `jobs` threads. Each thread has its own linter. The linter
/// starts its judge process when it gets its first request.
void LintRun::for_each(const std::vector<std::size_t>& indices, std::size_t jobs,
                       const std::function<void(std::size_t, sandbox::Linter&)>& step) const {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    sandbox::Linter linter(config_, device_.info().name);
    for (std::size_t at = next++; at < indices.size(); at = next++) step(indices[at], linter);
  };
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(jobs, 1), indices.size()); ++i)
    workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
}

/// Checks the reference, the mutants and the cost model, without the oracle. Returns false if the
/// judge could not load the operator or had too little memory. Then the oracle is not graded,
/// because that job would fail for the same reason.
bool LintRun::check_operator(const operators::Operator& op, sandbox::Linter& linter,
                             LintReport& report) const {
  std::vector<sandbox::CaseRequest> cases;
  for (const operators::Case& item : op.cases) {
    if (device_.info().can_time || item.interpreter || is_small(op, item))
      cases.push_back(tools::case_request(item));
  }
  const auto checks = linter.lint(op.directory.string(), cases, seed_);
  if (!checks) {
    const std::string line = op.name + ": " + checks.error().message;
    if (checks.error().code == ErrorCode::resource_exhausted)
      report.undecided = line;
    else
      report.failures.push_back(line);
    return false;
  }
  report.checks = checks->size();
  for (const sandbox::LintCheck& check : *checks) {
    report.mutants += check.mutant;
    report.killed += check.mutant && check.ok;
  }
  report.failures = failure_lines(op.name, *checks);
  const std::vector<std::string> cases_failures = case_failures(op);
  report.failures.insert(report.failures.end(), cases_failures.begin(), cases_failures.end());
  return true;
}

/// Judges the oracle, if the operator has one. Without a GPU, the oracle is also recorded.
/// Recording comes first, because the device keeps the recordings of public cases. So the grade
/// finds their kernels compiled, and each kernel is compiled once.
void LintRun::judge_oracle(const operators::Operator& op, LintReport& report) {
  if (op.baseline != Baseline::oracle) {
    report.oracle = no_oracle(op);
    return;
  }
  std::optional<sandbox::Verdict> recorded;
  if (!device_.info().can_time) recorded = record_oracle(op);
  if (check_oracle(op, report) && recorded) check_recording(op, *recorded, report);
}

/// Grades the oracle like a submission, because a grade is the strictest check. Returns false if
/// the oracle's dialect is not installed, or if the oracle needs a tier that this device does not
/// have. In these cases the report says what is missing, and the operator counts as sound if all
/// other checks passed.
bool LintRun::check_oracle(const operators::Operator& op, LintReport& report) {
  const sandbox::Verdict verdict = grade_oracle(op);
  if (lacks_dialect(op, verdict)) {
    report.oracle = "not compiled: " + verdict.detail;
    report.verdict = tools::verdict_to_json(verdict);
    return false;
  }
  if (needs_host_tier(op, verdict, device_.info())) {
    report.oracle = "not judged: it needs the host tier, and so a GPU; " + verdict.detail;
    report.verdict = tools::verdict_to_json(verdict);
    return false;
  }
  const bool only_compiles =
      verdict.error_kind == sandbox::ErrorKind::unsupported && !verdict.kernels.empty();
  if (sandbox::is_inconclusive(verdict.error_kind))
    report.undecided = op.name + ", oracle: " + escape_line(verdict.summary);
  else if (verdict.outcome != sandbox::Outcome::pass && !only_compiles)
    report.failures.push_back(op.name + ", oracle: " + escape_line(verdict.summary));
  check_margin(op, verdict, report);
  check_interpreter_time(op, verdict, report);
  report.oracle =
      only_compiles ? "compiles; " + verdict.detail : std::string(to_string(verdict.outcome));
  report.verdict = tools::verdict_to_json(verdict);
  return true;
}

/// Checks that the interpreter runs the oracle's cases in time.
void LintRun::check_interpreter_time(const operators::Operator& op, const sandbox::Verdict& verdict,
                                     LintReport& report) {
  if (verdict.tier != sandbox::Tier::interpreter) return;
  const auto again = [&]() -> std::optional<std::int64_t> {
    const sandbox::Verdict next = grade_oracle(op);
    // A job that ended early has not run all cases.
    return next.outcome == verdict.outcome ? std::optional(next.run_cpu_ms) : std::nullopt;
  };
  report.interpreter_ms = least_interpreter_ms(verdict.run_cpu_ms, again);
  const std::string slow = interpreter_time_failure(report.name, report.interpreter_ms);
  if (!slow.empty()) report.failures.push_back(slow);
}

sandbox::Verdict LintRun::grade_oracle(const operators::Operator& op) {
  sandbox::JobMonitor monitor;
  sandbox::Job job = tools::operator_job(op, sandbox::JobKind::grade, op.oracle_source);
  job.baseline_source.clear();  // the oracle is graded itself, so it has no baseline
  return device_.execute(job, monitor);
}

/// Records every case as a launch plan, because recording needs no GPU. This covers the cases that
/// are too large to run without a GPU.
sandbox::Verdict LintRun::record_oracle(const operators::Operator& op) {
  sandbox::JobMonitor monitor;
  sandbox::Job job = tools::operator_job(op, sandbox::JobKind::grade, op.oracle_source);
  job.kind = sandbox::JobKind::compile;
  job.every_case = true;
  job.targets = {device_.info().default_target};
  job.baseline_source.clear();
  return device_.execute(job, monitor);
}

/// Adds the outcome of record_oracle() to the report.
void LintRun::check_recording(const operators::Operator& op, const sandbox::Verdict& recorded,
                              LintReport& report) const {
  const std::string target = device_.info().default_target;
  const std::string line =
      op.name + ", oracle recorded for " + target + ": " + escape_line(recorded.summary);
  if (sandbox::is_inconclusive(recorded.error_kind))
    report.undecided = line;
  else if (recorded.outcome == sandbox::Outcome::pass)
    report.recorded = "all " + std::to_string(op.cases.size()) + " cases record for " + target;
  else
    report.failures.push_back(line);
}

}  // namespace assay::server
