#include "tools/call/run_job.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/escape.h"
#include "base/handle.h"
#include "tools/answer/verdict_answer.h"
#include "tools/model/operator_job.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSliceMs = 250;  // how soon a client's cancel is seen
constexpr std::int64_t kSignOfLifeMs = 1'000;
constexpr std::int64_t kSettleMs =
    150;  // between two places; the protocol takes ten notifications a second
constexpr std::int64_t kPatientMs = 86'400'000;  // of a task
constexpr std::int64_t kCancelWaitMs = 2'000;    // what a cancelled job gets to end

Result<sandbox::Job> make_job(const Services& services, const operators::Operator& op,
                              const GradingRequest& request, const json& arguments) {
  std::string source = text_argument(arguments, "code");
  if (const Status good = check_source(source); !good) return fail(good.error());
  sandbox::Job job = operator_job(op, request.kind, std::move(source));
  if (const Status good = choose_language(job, text_argument(arguments, "language")); !good)
    return fail(good.error());
  job.limits = services.job_limits;
  if (request.complete) {
    if (const Status good = request.complete(arguments, job); !good) return fail(good.error());
  }
  return job;
}

std::string place_of(const JobStatus& status) {
  if (status.state == JobState::queued) return queue_text(status);
  std::string text = "stage " + status.stage;
  if (status.cases_done > 0) text += ", case " + std::to_string(status.cases_done);
  if (status.cases_done > 0 && status.cases_total > 0)
    text += " of " + std::to_string(status.cases_total);
  return text;
}

/// Tells a client where its job is: when that has changed, though not so often that the protocol
/// drops it, and as a sign of life.
class Signs {
 public:
  explicit Signs(const CallContext& context) : context_(context) {}

  void look(const JobStatus& status, std::int64_t passed_ms) {
    if (status.verdict) return;
    std::string place = place_of(status);
    if (told_ms_ && passed_ms - *told_ms_ < (place == told_ ? kSignOfLifeMs : kSettleMs)) return;
    context_.progress(static_cast<double>(passed_ms) / 1000.0, 0,
                      place + ", " + std::to_string(status.elapsed_ms / 1000) + " s");
    told_ = std::move(place);
    told_ms_ = passed_ms;
  }

 private:
  const CallContext& context_;
  std::string told_;
  std::optional<std::int64_t> told_ms_;
};

}  // namespace

Status check_source(const std::string& source) {
  const std::int64_t limit = sandbox::Limits{}.source_bytes;
  if (source.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::invalid_argument, "code is empty; send the complete source");
  if (static_cast<std::int64_t>(source.size()) > limit) {
    return fail(ErrorCode::invalid_argument, "code has " + std::to_string(source.size()) +
                                                 " bytes; the limit is " + std::to_string(limit) +
                                                 " (source_bytes)");
  }
  if (source.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "code is binary (it has a zero byte); send source text");
  if (!is_utf8(source))
    return fail(ErrorCode::invalid_argument, "code is not UTF-8; send source text");
  return {};
}

Status check_device(JobService& jobs, const std::string& device) {
  const std::vector<std::string> names = jobs.devices();
  if (device.empty() || std::find(names.begin(), names.end(), device) != names.end()) return {};
  std::string valid;
  for (const std::string& name : names) valid += (valid.empty() ? "" : ", ") + name;
  return fail(ErrorCode::invalid_argument, "unknown device '" + cut_end(device, 40) +
                                               "'; valid: " + (valid.empty() ? "none" : valid));
}

Answer grade(Services& services, const GradingRequest& request, const json& arguments,
             const CallContext& context) {
  const std::string name = text_argument(arguments, "operator");
  const operators::Operator* op = services.catalog.find(name);
  if (op == nullptr) return error_answer(services.catalog.unknown(name));
  const std::string device = text_argument(arguments, "device");
  if (const Status good = check_device(services.jobs, device); !good)
    return error_answer(good.error());
  auto job = make_job(services, *op, request, arguments);
  if (!job) return error_answer(job.error());
  const std::string run = text_argument(arguments, "run");
  if (!run.empty()) {
    if (const Status allowed =
            services.runs.charge(run, op->name, request.kind, sha256_hex(job->source));
        !allowed)
      return error_answer(allowed.error());
  }
  const auto handle = services.jobs.submit(std::move(*job), run, device);
  if (!handle) return error_answer(handle.error());
  return follow(services, *handle, services.limits.answer_within_ms, request.cancel_on_hangup,
                format_of(arguments), context);
}

Answer follow(Services& services, const std::string& job, std::int64_t wait_ms,
              bool cancel_on_hangup, Format format, const CallContext& context) {
  if (context.patient && wait_ms > 0) wait_ms = kPatientMs;
  const auto start = Clock::now();
  const auto passed_ms = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
  };
  Signs signs(context);
  const auto tell = [&](const JobStatus& status) { signs.look(status, passed_ms()); };
  while (true) {
    const std::int64_t left_ms = std::max<std::int64_t>(wait_ms - passed_ms(), 0);
    auto status = services.jobs.wait(job, std::min(left_ms, kSliceMs), tell);
    if (!status) return error_answer(status.error());
    if (status->verdict || left_ms == 0) return status_answer(services, *status, format);
    if (context.cancelled()) {
      if (!cancel_on_hangup) return status_answer(services, *status, format);
      if (const Status stopped = services.jobs.cancel(job); !stopped)
        return error_answer(stopped.error());
      status = services.jobs.wait(job, kCancelWaitMs, nullptr);
      return status ? status_answer(services, *status, format) : error_answer(status.error());
    }
    tell(*status);
  }
}

}  // namespace assay::tools
