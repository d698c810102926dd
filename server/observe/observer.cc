#include "server/observe/observer.h"

#include <string>
#include <utility>
#include <vector>

#include "server/mcp/client/http_client.h"
#include "server/observe/call_facts.h"
#include "server/observe/traces.h"

namespace assay::server {
namespace {

constexpr std::int64_t kSendTimeoutMs = 2'000;
constexpr std::int64_t kMaxCollectorAnswerBytes = 1 << 20;
constexpr int kFirstBadStatus = 300;

/// Sends spans to the collector. The error does not contain the headers.
Status send_spans(const TraceTarget& target, const std::vector<Span>& spans) {
  mcp::HttpExchange exchange;
  exchange.headers = target.headers;
  exchange.body = otlp_request(spans, {.name = target.service, .version = ASSAY_VERSION});
  exchange.content_type = "application/json";
  exchange.timeout_ms = kSendTimeoutMs;
  exchange.max_response_bytes = kMaxCollectorAnswerBytes;
  const Result<mcp::HttpResponse> answer = mcp::http_exchange(target.url, exchange);
  if (!answer) return fail(answer.error());
  if (answer->status >= kFirstBadStatus)
    return fail(ErrorCode::unavailable,
                "the collector answered with status " + std::to_string(answer->status));
  return {};
}

Result<std::unique_ptr<LineFile>> open_if_named(const char* name, const std::string& path,
                                                const Clock& clock) {
  if (path.empty() || path == "-") return std::unique_ptr<LineFile>();
  return LineFile::open(name, path, clock);
}

void write_file(mcp::MetricsText& text, const char* name, const std::unique_ptr<LineFile>& file,
                std::uint64_t (LineFile::*count)() const) {
  const char* metric =
      count == &LineFile::lines ? "assay_log_file_lines_total" : "assay_log_file_failures_total";
  text.sample(metric, {{"file", name}}, file ? static_cast<double>(((*file).*count)()) : 0);
}

}  // namespace

Result<std::unique_ptr<Observer>> Observer::make(const ObserveFlags& flags, log::Format format,
                                                 const TraceTarget& target, const Clock& clock) {
  std::unique_ptr<Observer> made(new Observer());
  ASSAY_TRY(audit, open_if_named("audit", flags.audit_log, clock));
  ASSAY_TRY(access, open_if_named("access", flags.access_log, clock));
  made->audit_file_ = std::move(audit);
  made->access_file_ = std::move(access);
  if (made->audit_file_) made->audit_.emplace(*made->audit_file_, clock);
  if (!flags.access_log.empty()) made->access_.emplace(made->access_file_.get(), format);
  if (!target.url.empty())
    made->exporter_ = std::make_unique<SpanExporter>(
        SpanLimits(),
        [target](const std::vector<Span>& spans) { return send_spans(target, spans); }, clock);
  if (made->audit_) made->audit_->server("start");
  return made;
}

Observer::~Observer() {
  if (audit_) audit_->server("stop");
}

mcp::CallObserver Observer::calls() {
  return [this](const mcp::ObservedCall& observed) {
    const CallFacts facts = facts_of(observed);
    metrics_.add(observed, facts);
    if (audit_) audit_->call(observed, facts);
    const bool answered = observed.ending != mcp::MessageCounts::Ending::accepted;
    if (exporter_ && answered && observed.span.sampled) exporter_->add(span_of(observed, facts));
  };
}

std::function<void(const mcp::HttpRecord& record)> Observer::requests() {
  return [this](const mcp::HttpRecord& record) {
    metrics_.add(record);
    if (audit_) audit_->refused(record);
    if (access_) access_->write(record);
  };
}

JobObserver Observer::jobs() {
  return [this](const EndedJob& ended) {
    metrics_.add(ended);
    if (audit_) audit_->job(ended);
    if (!exporter_) return;
    for (Span& span : spans_of(ended)) exporter_->add(std::move(span));
  };
}

void Observer::reopen() {
  for (const std::unique_ptr<LineFile>* file : {&audit_file_, &access_file_}) {
    if (*file == nullptr) continue;
    if (const Status opened = (*file)->reopen(); !opened)
      log::error("the old log file stays in use",
                 {{"file", (*file)->name()}, {"error", opened.error().message}});
  }
  if (audit_) audit_->server("reload");
}

void Observer::write_metrics(mcp::MetricsText& text) const {
  metrics_.write(text);
  text.family("assay_log_file_lines_total", "counter",
              "Lines that were written to the audit log and to the access log.");
  write_file(text, "audit", audit_file_, &LineFile::lines);
  write_file(text, "access", access_file_, &LineFile::lines);
  text.family("assay_log_file_failures_total", "counter",
              "Lines of the audit log and of the access log that could not be written.");
  write_file(text, "audit", audit_file_, &LineFile::failures);
  write_file(text, "access", access_file_, &LineFile::failures);
  const SpanExporter::Counts spans = exporter_ ? exporter_->counts() : SpanExporter::Counts();
  text.gauge("assay_spans_queued", "Spans that wait to be sent.",
             static_cast<double>(spans.queued));
  text.family("assay_spans_sent_total", "counter", "Spans that the collector has accepted.");
  text.sample("assay_spans_sent_total", {}, static_cast<double>(spans.sent));
  text.family("assay_spans_dropped_total", "counter", "Spans that were lost, by reason.");
  text.sample("assay_spans_dropped_total", {{"reason", "queue_full"}},
              static_cast<double>(spans.queue_full));
  text.sample("assay_spans_dropped_total", {{"reason", "send_failed"}},
              static_cast<double>(spans.send_failed));
}

}  // namespace assay::server
