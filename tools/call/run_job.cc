#include "tools/call/run_job.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "operators/catalog.h"
#include "tools/answer/verdict_answer.h"
#include "tools/call/principal_of.h"
#include "tools/call/schema_parts.h"
#include "tools/model/operator_job.h"

namespace assay::tools {
namespace {

// The minimum time between two progress reports: kSamePlaceMs if the job's place has not changed
// since the last report, kNewPlaceMs if it has. A place is a position in the queue, or a stage. The
// protocol layer sends at most ten reports a second.
constexpr std::int64_t kSamePlaceMs = 1'000;
constexpr std::int64_t kNewPlaceMs = 150;
constexpr std::int64_t kTaskWaitMs = 86'400'000;
constexpr std::int64_t kCancelWaitMs = 2'000;  // the maximum wait until a cancelled job ends

std::string place_of(const JobStatus& status) {
  if (status.state == JobState::queued) return queue_text(status);
  std::string text = "stage " + status.stage;
  if (status.cases_done > 0) text += ", case " + std::to_string(status.cases_done);
  if (status.cases_done > 0 && status.cases_total > 0)
    text += " of " + std::to_string(status.cases_total);
  return text;
}

/// Tells the client the place of its job: the position in the queue, or the stage. It reports after
/// each change, and once a second while the place stays the same.
class ProgressReports {
 public:
  explicit ProgressReports(const mcp::RequestContext& context) : context_(context) {}

  /// Reports the place unless the last report is too recent. Returns the time until the next report
  /// is due, in milliseconds. The next report includes a change that came too early for this
  /// report.
  std::int64_t look(const JobStatus& status, std::int64_t passed_ms) {
    std::string place = place_of(status);
    const std::int64_t pause_ms = place == reported_ ? kSamePlaceMs : kNewPlaceMs;
    const std::int64_t early_ms = reported_ms_ ? *reported_ms_ + pause_ms - passed_ms : 0;
    if (early_ms > 0) return early_ms;
    context_.progress(static_cast<double>(passed_ms) / 1000.0, 0,
                      place + ", " + std::to_string(status.elapsed_ms / 1000) + " s");
    reported_ = std::move(place);
    reported_ms_ = passed_ms;
    return kSamePlaceMs;
  }

 private:
  const mcp::RequestContext& context_;
  std::string reported_;
  std::optional<std::int64_t> reported_ms_;
};

}  // namespace

nlohmann::json SubmissionArguments::properties(const Services& services, sandbox::JobKind kind) {
  nlohmann::json all = {{"operator", operator_property()},
                        {"language", language_of_source_property()},
                        {"run", run_property(kind == sandbox::JobKind::grade)},
                        {"device", device_property(services.jobs.devices())},
                        {"call_id", call_id_property()},
                        {"response_format", format_property()}};
  all.update(SourceArguments::properties(services, "Complete source (form: `fetch_spec`)",
                                         kind == sandbox::JobKind::compile));
  return all;
}

SubmissionArguments SubmissionArguments::read(ArgumentReader& reader) {
  SubmissionArguments parsed;
  reader.read("operator", parsed.operator_name);
  parsed.source = SourceArguments::read(reader);
  reader.read("language", parsed.language);
  reader.read("run", parsed.run);
  reader.read("device", parsed.device);
  reader.read("call_id", parsed.call_id);
  reader.read("response_format", parsed.format);
  if (!parsed.call_id.empty() && parsed.run.empty())
    reader.refuse({ErrorCode::invalid_argument,
                   "`call_id` needs `run`: a call without a run is not charged, so it can be "
                   "repeated without an id"});
  return parsed;
}

Result<sandbox::Job> make_job(const Services& services, const Principal& principal,
                              const SubmissionArguments& submission, sandbox::JobKind kind) {
  const operators::Operator* op = services.catalog.find(submission.operator_name);
  if (op == nullptr) return fail(services.catalog.unknown(submission.operator_name));
  if (const Status good = check_device(services.jobs, submission.device); !good)
    return fail(good.error());
  ASSAY_TRY(source, source_text(services, submission.source, principal));
  sandbox::Job job = operator_job(*op, kind, std::move(source.text));
  const std::string& language = submission.language.empty() ? source.language : submission.language;
  if (const Status good = choose_language(job, language); !good) return fail(good.error());
  job.limits = services.job_limits;
  return job;
}

mcp::ToolResult run_job(const Services& services, const SubmissionArguments& submission,
                        sandbox::Job job, const mcp::RequestContext& context) {
  const sandbox::JobKind kind = job.kind;
  job.traceparent = context.traceparent;
  std::vector<NewJob> one;
  one.push_back({std::move(job), submission.run, submission.device, submission.call_id});
  const auto handle =
      std::move(services.jobs.submit_all(principal_of(context), std::move(one)).front());
  if (!handle) return error_answer(handle.error());
  return follow_job(
      services, *handle,
      {.wait_ms = services.limits.answer_within_ms,
       // A client that names its call may repeat it after it has lost the connection.
       .cancel_on_hangup = kind != sandbox::JobKind::grade && submission.call_id.empty(),
       .format = submission.format},
      context);
}

mcp::ToolResult follow_job(const Services& services, const std::string& job,
                           const FollowOptions& options, const mcp::RequestContext& context) {
  const Principal principal = principal_of(context);
  const std::int64_t wait_ms =
      context.is_task && options.wait_ms > 0 ? kTaskWaitMs : options.wait_ms;
  const std::int64_t start_ns = services.clock.monotonic_ns();
  const auto passed_ms = [&] { return (services.clock.monotonic_ns() - start_ns) / kNsPerMs; };
  ProgressReports reports(context);
  // The client does not know any place of the job yet. So the first report follows as early as a
  // report of a new place.
  std::int64_t next_report_ms = kNewPlaceMs;
  const auto report = [&](const JobStatus& status) {
    next_report_ms = reports.look(status, passed_ms());
    return next_report_ms == kSamePlaceMs;  // false: this wait ends, and a shorter wait begins
  };
  while (true) {
    const std::int64_t left_ms = std::max<std::int64_t>(wait_ms - passed_ms(), 0);
    auto status =
        services.jobs.wait(principal, job, std::min(left_ms, next_report_ms), report, context.stop);
    if (!status) return error_answer(status.error());
    if (status->verdict || left_ms == 0)
      return status_answer(services, principal, *status, options.format);
    if (context.cancelled()) {
      status->server_stops = context.server_ends();
      if (!options.cancel_on_hangup || status->server_stops)
        return status_answer(services, principal, *status, options.format);
      if (const Status stopped = services.jobs.cancel(principal, job); !stopped)
        return error_answer(stopped.error());
      status = services.jobs.wait(principal, job, kCancelWaitMs, nullptr);
      return status ? status_answer(services, principal, *status, options.format)
                    : error_answer(status.error());
    }
    report(*status);
  }
}

Status check_device(const JobService& jobs, const std::string& device) {
  const std::vector<std::string> names = jobs.devices();
  if (device.empty() || std::find(names.begin(), names.end(), device) != names.end()) return {};
  return fail(unknown_name("device", device, names));
}

}  // namespace assay::tools
