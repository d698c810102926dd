#include "server/observe/work_metrics.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "sandbox/job/job.h"
#include "tools/model/public_verdict.h"
#include "tools/model/services.h"

namespace assay::server {
namespace {

constexpr double kMsInSecond = 1e3;
constexpr double kNsInSecond = 1e9;

/// Returns the shortest text of the number: "0.005", "300".
std::string text_of_bound(double bound) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), bound).ptr};
}

template <std::size_t kLabels>
void write_counter(mcp::MetricsText& text, std::string_view name, std::string_view help,
                   const std::array<std::string_view, kLabels>& labels,
                   const std::map<std::array<std::string, kLabels>, std::uint64_t>& counts) {
  text.family(name, "counter", help);
  for (const auto& [values, count] : counts) {
    mcp::MetricsText::Labels pairs;
    for (std::size_t i = 0; i < kLabels; ++i) pairs.emplace_back(labels[i], values[i]);
    text.sample(name, pairs, static_cast<double>(count));
  }
}

}  // namespace

void WorkMetrics::Histogram::add(double value) {
  const auto bound = std::lower_bound(kSecondsBounds.begin(), kSecondsBounds.end(), value);
  ++buckets[static_cast<std::size_t>(bound - kSecondsBounds.begin())];
  seconds += value;
}

void WorkMetrics::add(const mcp::ObservedCall& observed, const CallFacts& facts) {
  if (observed.ending == mcp::MessageCounts::Ending::accepted) return;
  std::array<std::string, 5> labels = {std::string(facts.method), std::string(facts.tool),
                                       std::string(class_of(observed.transport.caller)),
                                       std::string(mcp::MessageCounts::name_of(observed.ending)),
                                       facts.error};
  const MutexLock lock(mutex_);
  ++calls_[std::move(labels)];
  if (!facts.tool.empty())
    tools_[std::string(facts.tool)].add(static_cast<double>(observed.duration_ns) / kNsInSecond);
}

void WorkMetrics::add(const mcp::HttpRecord& record) {
  if (record.refusal == mcp::Refusal::none) return;
  const MutexLock lock(mutex_);
  ++refused_[{std::string(to_string(record.refusal))}];
}

void WorkMetrics::add(const EndedJob& ended) {
  const tools::PublicVerdict shown = tools::public_verdict(ended.verdict, nullptr);
  const sandbox::Verdict& verdict = shown.verdict();
  const std::string tool(tools::tool_of(ended.job.kind));
  const bool good = verdict.error_kind == sandbox::ErrorKind::none;
  const double seconds =
      static_cast<double>(tools::shown_elapsed_ms(ended.job.kind, ended.elapsed_ms)) / kMsInSecond;
  const double queue_seconds = ended.queue_ms / kMsInSecond;
  const MutexLock lock(mutex_);
  ++jobs_[{tool, ended.device, std::string(sandbox::to_string(verdict.outcome)),
           good ? "" : std::string(sandbox::to_string(verdict.error_kind))}];
  job_times_[tool].add(seconds);
  queue_times_[ended.device].add(queue_seconds);
  busy_seconds_[ended.device] += std::max(0.0, seconds - queue_seconds);
  for (const auto& [stage, ms] : verdict.stage_ms) {
    if (sandbox::stage_from(stage)) stage_times_[stage].add(ms / kMsInSecond);
  }
  if (!verdict.launch) return;
  for (const auto& [part, ms] : verdict.launch->ms) {
    if (sandbox::launch_part_from(part)) launch_times_[part].add(ms / kMsInSecond);
  }
  contexts_[{ended.device, "new"}] += static_cast<std::uint64_t>(verdict.launch->new_contexts);
  contexts_[{ended.device, "kept"}] += static_cast<std::uint64_t>(verdict.launch->kept_contexts);
}

void WorkMetrics::write(mcp::MetricsText& text, std::string_view name, std::string_view help,
                        std::string_view label, const Histograms& histograms) {
  text.family(name, "histogram", help);
  const std::string base(name);
  for (const auto& [value, histogram] : histograms) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
      total += histogram.buckets[i];
      const std::string bound =
          i < kSecondsBounds.size() ? text_of_bound(kSecondsBounds[i]) : "+Inf";
      text.sample(base + "_bucket", {{label, value}, {"le", bound}}, static_cast<double>(total));
    }
    text.sample(base + "_sum", {{label, value}}, histogram.seconds);
    text.sample(base + "_count", {{label, value}}, static_cast<double>(total));
  }
}

void WorkMetrics::write(mcp::MetricsText& text) const {
  const MutexLock lock(mutex_);
  write_counter<5>(text, "assay_calls_total",
                   "Answered requests, by method, tool, class of the principal, outcome and error.",
                   {"method", "tool", "principal_class", "outcome", "error"}, calls_);
  write_counter<1>(text, "assay_refused_total",
                   "Requests that were refused before their message was read, by reason.",
                   {"reason"}, refused_);
  write_counter<4>(text, "assay_jobs_total", "Jobs that ended, by tool, device, outcome and error.",
                   {"tool", "device", "outcome", "error"}, jobs_);
  write(text, "assay_tool_seconds", "Time to answer a call of a tool, by tool.", "tool", tools_);
  write(text, "assay_job_seconds", "Time of a job with its time in the queue, by tool.", "tool",
        job_times_);
  write(text, "assay_job_queue_seconds", "Time of a job in the queue, by device.", "device",
        queue_times_);
  write(text, "assay_job_stage_seconds", "Time of a stage of a job that is no grade, by stage.",
        "stage", stage_times_);
  write(text, "assay_job_launch_seconds",
        "Time of a part of the launches of a job that is no grade, by part.", "part",
        launch_times_);
  write_counter<2>(text, "assay_job_contexts_total",
                   "GPU contexts that jobs which are no grades have used, by device and state.",
                   {"device", "state"}, contexts_);
  text.family("assay_device_busy_seconds_total", "counter",
              "Time of ended jobs without their time in the queue, by device.");
  for (const auto& [device, seconds] : busy_seconds_)
    text.sample("assay_device_busy_seconds_total", {{"device", device}}, seconds);
}

}  // namespace assay::server
