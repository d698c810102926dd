// Observer shows from outside what a server does. It passes each event on to the audit log, the
// access log, the metrics and the traces, as far as the options ask for them.
//
//   Result<std::unique_ptr<Observer>> observer = Observer::make(flags, log::Format::json, target);
//   if (!observer) return fail(observer.error());
//   mcp::ServerParts parts;
//   parts.observer = (*observer)->calls();
//   http.request_ended = (*observer)->requests();
//   services.job_ended = (*observer)->jobs();
//
// Thread-safe. The object must outlive the functions that it returns.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "server/mcp/core/call_observer.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_record.h"
#include "server/observe/access_log.h"
#include "server/observe/audit_log.h"
#include "server/observe/line_file.h"
#include "server/observe/observe_options.h"
#include "server/observe/span_exporter.h"
#include "server/observe/work_metrics.h"
#include "server/runs/job_service.h"

namespace assay::server {

class Observer {
 public:
  /// Opens the files and starts the thread that sends traces. Errors: io if a file cannot be
  /// opened.
  static Result<std::unique_ptr<Observer>> make(const ObserveFlags& flags, log::Format format,
                                                const TraceTarget& target,
                                                const Clock& clock = system_clock());
  /// Records the end of the server, and sends the spans that still wait.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  mcp::CallObserver calls();
  std::function<void(const mcp::HttpRecord& record)> requests();
  JobObserver jobs();

  /// Opens the files again, after a program has rotated them.
  void reopen();
  void write_metrics(mcp::MetricsText& text) const;

 private:
  Observer() = default;

  WorkMetrics metrics_;
  std::unique_ptr<LineFile> audit_file_, access_file_;  // null: the option is not set
  std::optional<AuditLog> audit_;
  std::optional<AccessLog> access_;
  std::unique_ptr<SpanExporter> exporter_;  // null: no traces
};

}  // namespace assay::server
