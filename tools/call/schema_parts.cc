#include "tools/call/schema_parts.h"

#include <cstdint>

#include "sandbox/job/job.h"

namespace assay::tools {

using nlohmann::json;

namespace {

json of_type(const char* type) { return {{"type", type}}; }

json wrong_schema() {
  const json integer = of_type("integer");
  const json span = {{"type", "object"},
                     {"properties",
                      {{"axis", integer},
                       {"first", integer},
                       {"last", integer},
                       {"run", integer},
                       {"period", integer}}}};
  const json region = {
      {"type", "object"},
      {"properties", {{"count", integer}, {"share", number_or_text()}, {"spans", array_of(span)}}}};
  const json element = {{"type", "object"},
                        {"properties",
                         {{"index", array_of(integer)},
                          {"expected", number_or_text()},
                          {"actual", number_or_text()},
                          {"inputs", of_type("object")}}}};
  return {{"type", "object"},
          {"properties",
           {{"output", of_type("string")},
            {"shape", array_of(integer)},
            {"elements", integer},
            {"allowed", number_or_text()},
            {"scale", number_or_text()},
            {"all", region},
            {"unstored", region},
            {"nan", region},
            {"memory", number_or_text()},
            {"constant", number_or_text()},
            {"ratio", number_or_text()},
            {"offset", number_or_text()},
            {"row_ratios", array_of(number_or_text())},
            {"worst", array_of(element)}}}};
}

json case_schema() {
  const json timing = {{"type", "object"},
                       {"properties",
                        {{"median_ns", number_or_text()},
                         {"low_ns", number_or_text()},
                         {"high_ns", number_or_text()}}}};
  const json mismatch = {{"type", "object"},
                         {"properties",
                          {{"output", of_type("string")},
                           {"index", array_of(of_type("integer"))},
                           {"expected", number_or_text()},
                           {"actual", number_or_text()},
                           {"unstored", of_type("boolean")}}}};
  const json operation = {
      {"type", "object"},
      {"properties",
       {{"name", of_type("string")}, {"submitted", of_type("boolean")}, {"ns", number_or_text()}}}};
  return {{"type", "object"},
          {"required", {"id", "outcome"}},
          {"properties",
           {{"id", of_type("string")},
            {"hidden", of_type("boolean")},
            {"outcome", choice_property("", {"pass", "fail", "error"})},
            {"reason", of_type("string")},
            {"max_abs_error", number_or_text()},
            {"float64_error", number_or_text()},
            {"strict_pass", of_type("boolean")},
            {"elements", of_type("integer")},
            {"mismatches", of_type("integer")},
            {"first_mismatch", mismatch},
            {"wrong", array_of(wrong_schema())},
            {"latency", timing},
            {"baseline_latency", timing},
            {"pytorch_ns", number_or_text()},
            {"torch_compile_ns", number_or_text()},
            {"torch_compile_unsupported", of_type("string")},
            {"floor_ns", number_or_text()},
            {"timeline", array_of(operation)},
            {"own_share", number_or_text()},
            {"deterministic", of_type("boolean")}}}};
}

json kernel_schema() {
  return {{"type", "object"},
          {"properties",
           {{"name", of_type("string")},
            {"target", of_type("string")},
            {"registers", of_type("integer")},
            {"spill_bytes", of_type("integer")},
            {"shared_bytes", of_type("integer")},
            {"num_warps", of_type("integer")},
            {"occupancy", number_or_text()},
            {"occupancy_limiter", of_type("string")}}}};
}

json profile_schema() {
  const json text = of_type("string");
  const json number = number_or_text();
  const json objects = array_of(json{{"type", "object"}});
  const json roofline = {{"type", "object"},
                         {"properties",
                          {{"cost_bytes", number},
                           {"cost_flops", number},
                           {"bytes_per_s", number},
                           {"flops_per_s", number},
                           {"unit", text},
                           {"source", text},
                           {"floor_ns", number},
                           {"latency_ns", number},
                           {"oracle_ns", number},
                           {"share", number}}}};
  return {{"type", "object"},
          {"properties",
           {{"case", text},
            {"target", text},
            {"device_name", text},
            {"detail", text},
            {"evidence", choice_property("", {"counters", "timing", "compiled"})},
            {"bound", choice_property("", {"memory", "compute", "latency", "launch"})},
            {"reason", text},
            {"roofline", roofline},
            {"suggestion", text},
            {"code", objects},
            {"counters", objects},
            {"missing", of_type("object")}}}};
}

json sanitizer_schema() {
  const json text = of_type("string");
  const json numbers = array_of(of_type("integer"));
  const json place = {
      {"type", "object"},
      {"properties",
       {{"kernel", text}, {"file", text}, {"line", of_type("integer")}, {"code", text}}}};
  const json tool = choice_property("", {"memcheck", "racecheck", "initcheck", "synccheck"});
  const json finding = {{"type", "object"},
                        {"properties",
                         {{"tool", tool},
                          {"text", text},
                          {"places", array_of(place)},
                          {"address", text},
                          {"thread", numbers},
                          {"block", numbers}}}};
  return {{"type", "object"},
          {"properties",
           {{"case", text},
            {"tools", array_of(tool)},
            {"findings", array_of(finding)},
            {"total", of_type("integer")}}}};
}

json diagnostic_schema() {
  return {{"type", "object"},
          {"properties",
           {{"exception", of_type("string")},
            {"message", of_type("string")},
            {"line", of_type("integer")},
            {"code", of_type("string")},
            {"traceback", of_type("string")},
            {"advice", of_type("string")}}}};
}

json artifact_schema() {
  return {{"type", "object"},
          {"properties", {{"artifact", of_type("string")}, {"name", of_type("string")}}}};
}

}  // namespace

json text_property(const std::string& description, std::int64_t max_length) {
  json property = {{"type", "string"}, {"description", description}};
  if (max_length > 0) property["maxLength"] = max_length;
  return property;
}

json choice_property(const std::string& description, const std::vector<std::string>& valid,
                     const std::string& default_value) {
  json property = {{"type", "string"}, {"enum", valid}};
  if (!description.empty()) property["description"] = description;
  if (!default_value.empty()) property["default"] = default_value;
  return property;
}

json integer_property(const std::string& description, std::int64_t minimum,
                      std::optional<std::int64_t> maximum) {
  json property = {{"type", "integer"}, {"description", description}, {"minimum", minimum}};
  if (maximum) property["maximum"] = *maximum;
  return property;
}

json boolean_property(const std::string& description, bool default_value) {
  return {{"type", "boolean"}, {"description", description}, {"default", default_value}};
}

json call_id_property() { return text_property("Repeats count once", 0); }

json operator_property() { return text_property("From `list_operators`", 0); }
json language_property() {
  return choice_property("Of the code", {sandbox::kLanguages.begin(), sandbox::kLanguages.end()},
                         std::string(sandbox::kPython));
}
json language_of_source_property() {
  return choice_property("Default: of `source`, or python",
                         {sandbox::kLanguages.begin(), sandbox::kLanguages.end()});
}
json run_property(bool required) {
  return text_property(required ? "From `start_run`" : "Run to charge; default: practice", 0);
}
json device_property(const std::vector<std::string>& devices) {
  if (devices.empty()) return text_property("Where to run; this server has no device");
  return choice_property("Where to run", devices, devices.front());
}
json format_property() {
  return choice_property("Answer size", {"concise", "detailed"}, "concise");
}

json annotations_of(const ToolEffects& effects) {
  return {{"readOnlyHint", effects.read_only},
          {"destructiveHint", effects.destructive},
          {"idempotentHint", effects.idempotent},
          {"openWorldHint", effects.open_world}};
}

json input_object(json properties, const std::vector<std::string>& required) {
  json schema = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

json output_object(json properties) {
  properties["status"] = choice_property("", {"ok", "finished", "running", "error"});
  properties["error"] = {{"type", "object"},
                         {"properties",
                          {{"code", of_type("string")},
                           {"message", of_type("string")},
                           {"retryable", of_type("boolean")}}}};
  properties["truncated"] = of_type("string");
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", {"status"}},
          {"additionalProperties", false}};
}

json outline_of(const json& schema, const std::vector<std::string>& names) {
  json properties = json::object();
  const auto add = [&](const std::string& name) {
    properties[name] = {{"type", schema.at("properties").at(name).at("type")}};
  };
  for (const std::string& name : names) add(name);
  add("status");
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

json suite_schema() {
  return {{"type", "object"},
          {"properties", {{"name", of_type("string")}, {"version", of_type("string")}}}};
}

json array_of(json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
json number_or_text() { return {{"type", {"number", "string"}}}; }

namespace {

json skipped_schema() {
  return {{"type", "object"},
          {"properties",
           {{"ids", array_of(of_type("string"))},
            {"hidden", of_type("integer")},
            {"reason", of_type("string")},
            {"text", of_type("string")}}}};
}

json hint_schema() {
  return {
      {"type", "object"},
      {"properties",
       {{"kind", of_type("string")}, {"case", of_type("string")}, {"text", of_type("string")}}}};
}

json engine_schema() {
  return {{"type", "object"},
          {"properties",
           {{"state", choice_property("", {"pending", "failed", "preempted", "lost"})},
            {"said", of_type("string")}}}};
}

json dropped_schema() {
  return {{"type", "object"},
          {"properties",
           {{"kind", of_type("string")},
            {"name", of_type("string")},
            {"bytes", of_type("integer")},
            {"reason", choice_property("", {"too_large", "job_quota", "owner_quota", "store_quota",
                                            "not_written"})}}}};
}

}  // namespace

json verdict_schema() {
  const json numbers = {{"type", "object"}, {"additionalProperties", number_or_text()}};
  return output_object({
      {"job", of_type("string")},
      {"state", choice_property("", {"queued", "running", "finished", "cancelled", "aborted"})},
      {"queue_position", of_type("integer")},
      {"expected_wait_ms", of_type("integer")},
      {"elapsed_ms", of_type("integer")},
      {"calls_left", of_type("integer")},
      {"server_stops", of_type("boolean")},
      {"engine", engine_schema()},
      {"stage", of_type("string")},
      {"kind", choice_property("", {"compile", "test", "profile", "grade"})},
      {"operator", of_type("string")},
      {"language", of_type("string")},
      {"outcome", choice_property("", {"pass", "fail", "error"})},
      {"error_kind", of_type("string")},
      {"error_type", of_type("string")},
      {"error_group", of_type("string")},
      {"summary", of_type("string")},
      {"detail", of_type("string")},
      {"diagnostic", diagnostic_schema()},
      {"cases", array_of(case_schema())},
      {"skipped_cases", array_of(skipped_schema())},
      {"kernels", array_of(kernel_schema())},
      {"hints", array_of(hint_schema())},
      {"artifacts", array_of(artifact_schema())},
      {"artifacts_dropped", array_of(dropped_schema())},
      {"stdout", of_type("string")},
      {"stderr", of_type("string")},
      {"tier", choice_property("", {"plan", "host", "interpreter", "none"})},
      {"tier_reason", of_type("string")},
      {"profile", profile_schema()},
      {"sanitizer", sanitizer_schema()},
      {"baseline", choice_property("", {"oracle", "torch_eager"})},
      {"perf", number_or_text()},
      {"stage_ms", numbers},
      {"gpu_alone_ms", of_type("number")},
      {"launch", of_type("object")},
      {"provenance", of_type("object")},
      {"next", of_type("string")},
  });
}

std::vector<std::string> verdict_outline() { return {"outcome", "summary"}; }

}  // namespace assay::tools
