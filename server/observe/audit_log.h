// AuditLog writes one line of JSON for each event: who did what, with which run and job, and how it
// ended. docs/reference/observability.md lists the fields. The log never contains a token, a
// source, an argument other than a handle, or data of a hidden case.
//
//   AuditLog audit(*file);
//   audit.server("start");
//   audit.call(observed, facts_of(observed));
//
// Thread-safe. The file must outlive the object.
#pragma once

#include <string_view>

#include "server/mcp/core/call_observer.h"
#include "server/mcp/http/http_record.h"
#include "server/observe/call_facts.h"
#include "server/observe/line_file.h"
#include "server/runs/job_service.h"

namespace assay::server {

class AuditLog {
 public:
  explicit AuditLog(LineFile& file, const Clock& clock = system_clock())
      : file_(file), clock_(clock) {}

  /// Records an event of the server itself: "start", "reload" or "stop".
  void server(std::string_view what);
  /// Records an answered request. Messages that need no answer are not recorded.
  void call(const mcp::ObservedCall& observed, const CallFacts& facts);
  /// Records a request that was refused before its message was read. Does nothing for any other
  /// request.
  void refused(const mcp::HttpRecord& record);
  /// Records a verdict, as far as the job's client may see it.
  void job(const EndedJob& ended);

 private:
  LineFile& file_;
  const Clock& clock_;
};

}  // namespace assay::server
