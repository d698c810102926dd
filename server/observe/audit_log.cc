#include "server/observe/audit_log.h"

#include <string>

#include "base/json.h"
#include "base/rfc3339.h"
#include "base/trace_parent.h"
#include "tools/model/public_verdict.h"
#include "tools/model/services.h"

namespace assay::server {
namespace {

using nlohmann::json;

constexpr double kNsPerMsDouble = 1e6;

std::string line_of(const json& event) {
  return event.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Adds the member unless the text is empty.
void add(json& event, const char* key, std::string_view text) {
  if (!text.empty()) event[key] = text;
}

}  // namespace

void AuditLog::server(std::string_view what) {
  file_.append(
      line_of({{"time", iso_time(clock_.unix_ms())}, {"event", "server"}, {"what", what}}));
}

void AuditLog::call(const mcp::ObservedCall& observed, const CallFacts& facts) {
  if (observed.ending == mcp::MessageCounts::Ending::accepted) return;
  json event = {{"time", iso_time(observed.start_unix_ms)},
                {"event", "call"},
                {"principal", observed.transport.principal()},
                {"method", facts.method},
                {"outcome", mcp::MessageCounts::name_of(observed.ending)},
                {"duration_ms", static_cast<double>(observed.duration_ns) / kNsPerMsDouble},
                {"trace", observed.span.trace_id}};
  add(event, "address", observed.transport.address);
  add(event, "tool", facts.tool);
  add(event, "run", facts.run);
  add(event, "job", facts.job);
  add(event, "error", facts.error);
  file_.append(line_of(event));
}

void AuditLog::refused(const mcp::HttpRecord& record) {
  if (record.refusal == mcp::Refusal::none) return;
  json event = {{"time", iso_time(record.start_unix_ms)}, {"event", "refused"},
                {"principal", record.principal},          {"address", record.address},
                {"error", to_string(record.refusal)},     {"status", record.status}};
  file_.append(line_of(event));
}

void AuditLog::job(const EndedJob& ended) {
  const tools::PublicVerdict shown = tools::public_verdict(ended.verdict, nullptr);
  const sandbox::Verdict& verdict = shown.verdict();
  json event = {{"time", iso_time(ended.end_unix_ms)},
                {"event", "job"},
                {"principal", ended.job.caller},
                {"job", ended.job.id},
                {"tool", tools::tool_of(ended.job.kind)},
                {"operator", ended.job.operator_name},
                {"device", ended.device},
                {"state", tools::to_string(ended.state)},
                {"outcome", sandbox::to_string(verdict.outcome)},
                {"duration_ms", tools::shown_elapsed_ms(ended.job.kind, ended.elapsed_ms)}};
  add(event, "run", ended.job.run);
  if (verdict.error_kind != sandbox::ErrorKind::none)
    event["error"] = sandbox::to_string(verdict.error_kind);
  if (const auto span = TraceParent::parse(ended.job.traceparent)) event["trace"] = span->trace_id;
  file_.append(line_of(event));
}

}  // namespace assay::server
