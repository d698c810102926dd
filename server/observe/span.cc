#include "server/observe/span.h"

#include "base/json.h"

namespace assay::server {
namespace {

using nlohmann::json;

constexpr int kStatusError = 2;  // OTLP's STATUS_CODE_ERROR

json text_attribute(const std::string& key, const std::string& text) {
  return {{"key", key}, {"value", {{"stringValue", text}}}};
}

json to_json(const Span& span) {
  json attributes = json::array();
  for (const auto& [key, value] : span.attributes) {
    if (const auto* text = std::get_if<std::string>(&value))
      attributes.push_back(text_attribute(key, *text));
    else  // OTLP writes 64-bit integers as text
      attributes.push_back(
          {{"key", key}, {"value", {{"intValue", std::to_string(std::get<std::int64_t>(value))}}}});
  }
  json out = {{"traceId", span.place.trace_id},
              {"spanId", span.place.span_id},
              {"name", span.name},
              {"kind", static_cast<int>(span.kind)},
              {"startTimeUnixNano", std::to_string(span.start_ns)},
              {"endTimeUnixNano", std::to_string(span.end_ns)},
              {"attributes", attributes}};
  if (!span.parent_id.empty()) out["parentSpanId"] = span.parent_id;
  if (span.failed) out["status"] = {{"code", kStatusError}};
  return out;
}

}  // namespace

void Span::add(std::string key, std::string_view text) {
  if (!text.empty()) attributes.emplace_back(std::move(key), std::string(text));
}

std::string otlp_request(const std::vector<Span>& spans, const TracedService& service) {
  json list = json::array();
  for (const Span& span : spans) list.push_back(to_json(span));
  const json scope = {{"name", "assay"}, {"version", service.version}};
  const json resource = {
      {"attributes", json::array({text_attribute("service.name", service.name),
                                  text_attribute("service.version", service.version)})}};
  const json scope_spans = json::array({{{"scope", scope}, {"spans", list}}});
  const json request = {
      {"resourceSpans", json::array({{{"resource", resource}, {"scopeSpans", scope_spans}}})}};
  return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace assay::server
