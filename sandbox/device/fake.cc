#include "sandbox/device/fake.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/handle.h"
#include "sandbox/job/target.h"

namespace assay::sandbox {
namespace {

constexpr std::string_view kMark = "# fake:";
constexpr const char* kValid = "valid: pass, fail, error=KIND, sleep_ms=N, perf=X";
constexpr double kBaselineNs = 10'000;
constexpr double kMaxPerf = 1e6;
constexpr std::int64_t kElements = 1024;

struct Script {
  ErrorKind kind = ErrorKind::none;
  std::int64_t kind_line = 0;
  std::string kind_code;
  std::int64_t sleep_ms = 0;
  std::optional<double> perf;
  std::string complaint;  // message about an unknown directive
};

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0))
    return std::nullopt;
  return value;
}

/// Applies a directive to the script. Returns false if the directive is unknown.
bool apply(std::string_view directive, std::int64_t line, std::string_view code, Script& script) {
  const auto equals = directive.find('=');
  const std::string_view key = directive.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : directive.substr(equals + 1);
  const auto ends_with = [&](ErrorKind kind) {
    script.kind = kind;
    script.kind_line = line;
    script.kind_code = code;
    return true;
  };
  if (directive == "pass") return ends_with(ErrorKind::none);
  if (directive == "fail") return ends_with(ErrorKind::wrong_result);
  if (key == "error") {
    const auto kind = error_kind_from(value);
    return kind && *kind != ErrorKind::none && ends_with(*kind);
  }
  if (key == "sleep_ms") {
    const auto ms = number_from<std::int64_t>(value);
    if (ms) script.sleep_ms = *ms;
    return ms.has_value();
  }
  if (key == "perf") {
    script.perf = number_from<double>(value);
    return script.perf && *script.perf > 0 && *script.perf < kMaxPerf;
  }
  return false;
}

Script read_script(std::string_view source) {
  Script script;
  std::int64_t line_number = 0;
  while (!source.empty()) {
    ++line_number;
    const auto end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    const auto at = line.find(kMark);
    if (at == std::string_view::npos) continue;
    const std::string_view directive = trim(line.substr(at + kMark.size()));
    if (!apply(directive, line_number, trim(line), script) && script.complaint.empty()) {
      script.complaint =
          "line " + std::to_string(line_number) + ": no such '# fake:' directive; " + kValid;
    }
  }
  return script;
}

Timing timing_of(double ns) {
  return {.median_ns = ns,
          .low_ns = ns * 0.99,
          .high_ns = ns * 1.01,
          .samples_ns = {ns * 0.99, ns, ns * 1.01}};
}

CaseRecord record_of(const CaseRequest& request, const Script& script,
                     std::optional<Baseline> baseline) {
  CaseRecord record;
  record.id = request.id;
  record.hidden = request.hidden;
  record.elements = kElements;
  if (script.kind == ErrorKind::wrong_result) {
    record.outcome = Outcome::fail;
    record.reason = "max abs error 0.5 exceeds 0.01; expected 1, got 0.5";
    record.max_abs_error = 0.5;
    record.float64_error = 0.5;
    record.strict_pass = false;
    record.mismatches = kElements;
    record.first_mismatch = Mismatch{.output = "out", .index = {0}, .expected = 1.0, .actual = 0.5};
    return record;
  }
  record.outcome = Outcome::pass;
  record.max_abs_error = 0.0;
  record.float64_error = 0.0;
  record.strict_pass = true;
  if (baseline && script.perf) {
    record.baseline_latency = timing_of(kBaselineNs);
    if (baseline == Baseline::torch_eager) record.pytorch_ns = kBaselineNs;
    record.latency = timing_of(kBaselineNs / *script.perf);
  }
  return record;
}

KernelReport kernel_of(const std::string& target) {
  KernelReport kernel;
  kernel.name = "fake_kernel";
  kernel.target = target;
  kernel.num_warps = 4;
  kernel.registers = 32;
  kernel.binary_bytes = 1000;
  kernel.occupancy = 1.0;
  kernel.occupancy_limiter = "warps";
  kernel.grid = {1, 1, 1};
  kernel.launches = 1;
  return kernel;
}

void end_with(Verdict& verdict, ErrorKind kind, Stage stage, std::string summary) {
  const bool wrong_answer = kind == ErrorKind::wrong_result || kind == ErrorKind::output_mismatch;
  verdict.outcome = wrong_answer ? Outcome::fail : Outcome::error;
  verdict.error_kind = kind;
  verdict.stage = stage;
  verdict.summary = std::move(summary);
}

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int concurrency) : concurrency_(concurrency) {}

  DeviceInfo info() const override {
    return {.name = kFakeDevice,
            .description = "no device: verdicts follow the '# fake:' comments of a submission",
            .can_time = false,
            .best_tier = Tier::none,
            .default_target = std::string(kDefaultTarget),
            .concurrency = concurrency_};
  }

  Verdict execute(const Job& job, JobMonitor& monitor) override {
    Verdict verdict;
    verdict.tells_hidden = false;
    verdict.job = job.id;
    verdict.kind = job.kind;
    verdict.operator_name = job.operator_name;
    verdict.tier_reason = kFakeTierReason;
    verdict.provenance.device = kFakeDevice;
    verdict.provenance.device_name = kFakeDevice;
    verdict.provenance.source_sha256 = sha256_hex(job.source);
    if (!job.plans.empty()) {
      end_with(verdict, ErrorKind::unsupported, Stage::queue,
               "the fake device launches nothing; device cuda:N can replay a launch plan");
      return verdict;
    }
    const auto enter = [&](Stage stage) {
      if (monitor.stage_changed) monitor.stage_changed(stage);
    };

    enter(Stage::import);
    const Script script = read_script(job.source);
    if (!script.complaint.empty()) {
      end_with(verdict, ErrorKind::unsupported, Stage::import, script.complaint);
      return verdict;
    }
    enter(Stage::run);
    if (const ErrorKind kind = wait(script.sleep_ms, job.limits.run_wall_ms, monitor);
        kind != ErrorKind::none) {
      end_with(verdict, kind, Stage::run,
               kind == ErrorKind::timeout
                   ? "ran longer than " + std::to_string(job.limits.run_wall_ms) + " ms"
                   : "cancelled");
      return verdict;
    }
    if (script.kind != ErrorKind::none && script.kind != ErrorKind::wrong_result) {
      end_with(verdict, script.kind, Stage::run,
               std::string(to_string(script.kind)) + " as the source asks");
      verdict.diagnostic = Diagnostic{.exception = "",
                                      .message = verdict.summary,
                                      .line = script.kind_line,
                                      .code = script.kind_code,
                                      .traceback = ""};
      return verdict;
    }
    enter(Stage::judge);
    judge(job, script, verdict);
    const auto cases = static_cast<std::int64_t>(verdict.cases.size());
    if (monitor.case_done && cases > 0) monitor.case_done(cases, cases);
    return verdict;
  }

 private:
  static ErrorKind wait(std::int64_t sleep_ms, std::int64_t limit_ms, const JobMonitor& monitor) {
    const std::chrono::milliseconds time(std::min(sleep_ms, limit_ms));
    if (!system_clock().pause(time, monitor.stop)) return ErrorKind::cancelled;
    return sleep_ms > limit_ms ? ErrorKind::timeout : ErrorKind::none;
  }

  static void judge(const Job& job, const Script& script, Verdict& verdict) {
    const bool timed = job.kind == JobKind::profile || job.kind == JobKind::grade;
    if (timed && script.perf) verdict.baseline = job.baseline;
    for (const CaseRequest& request : job.cases) {
      verdict.cases.push_back(record_of(request, script, verdict.baseline));
      verdict.tells_hidden |= request.hidden;
    }
    const std::vector<std::string> targets =
        job.targets.empty() ? std::vector<std::string>{std::string(kDefaultTarget)} : job.targets;
    for (const std::string& target : targets) {
      verdict.kernels.push_back(kernel_of(target));
      if (job.want_artifacts)
        verdict.artifacts.push_back(
            {"ptx", "fake_kernel " + target, "// no code: the fake device compiles nothing\n"});
    }
    const std::string count = std::to_string(verdict.cases.size());
    if (script.kind == ErrorKind::wrong_result) {
      end_with(verdict, ErrorKind::wrong_result, Stage::judge, "0 of " + count + " cases pass");
      return;
    }
    verdict.outcome = Outcome::pass;
    verdict.stage = Stage::done;
    verdict.summary = count + " of " + count + " cases pass";
    if (timed) verdict.perf = script.perf;
  }

  const int concurrency_;
};

}  // namespace

std::unique_ptr<Device> make_fake_device(int concurrency) {
  return std::make_unique<FakeDevice>(std::max(concurrency, 1));
}

}  // namespace assay::sandbox
