// Makes the JSON schemas of the tools' arguments and answers: flat, typed properties with enums and
// defaults. The schemas use only keywords that every validator knows. Pure functions, thread-safe.
//
//   tool.input_schema = input_object({{"operator", operator_property()}}, {"operator"});
//   tool.output_schema = output_object({{"run", {{"type", "string"}}}});
//   tool.listed_output_schema = outline_of(tool.output_schema, {"run"});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::tools {

/// Returns a text property. A `max_length` of 0 sets no limit, for a text that the tool checks.
nlohmann::json text_property(const std::string& description, std::int64_t max_length = 200);
nlohmann::json choice_property(const std::string& description,
                               const std::vector<std::string>& valid,
                               const std::string& default_value = "");
/// Without a `maximum` the schema has no upper limit, for a number that the tool limits.
nlohmann::json integer_property(const std::string& description, std::int64_t minimum,
                                std::optional<std::int64_t> maximum = {});
nlohmann::json boolean_property(const std::string& description, bool default_value);

/// The properties that several tools share.
nlohmann::json operator_property();
nlohmann::json language_property();
nlohmann::json language_of_source_property();
nlohmann::json run_property(bool required);
/// The id with which a client can repeat a call.
nlohmann::json call_id_property();
nlohmann::json device_property(const std::vector<std::string>& devices);
nlohmann::json format_property();

/// The annotations of a tool: what a client may assume about calls of the tool.
struct ToolEffects {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};
nlohmann::json annotations_of(const ToolEffects& effects);

nlohmann::json input_object(nlohmann::json properties, const std::vector<std::string>& required);

/// Returns the schema of an answer that has these properties, and also `status` (ok, finished,
/// running or error) and `error` {code, message}. Only `status` is required.
nlohmann::json output_object(nlohmann::json properties);

/// Returns the outline of an answer's schema: the properties `names` and `status` with their types.
/// Further properties are allowed, and nested values have no schema. tools/list shows outlines,
/// because a model pays for each byte of the list; docs/reference/tools.md describes the answers.
nlohmann::json outline_of(const nlohmann::json& schema, const std::vector<std::string>& names);

nlohmann::json array_of(nlohmann::json items);
/// Returns the schema of a suite's name, version and digest.
nlohmann::json suite_schema();
/// Returns the schema of a value that is a number, or one of the strings "nan", "inf" and "-inf".
nlohmann::json number_or_text();

/// Returns the schema of `structured` in the answers of status_answer()
/// (tools/answer/verdict_answer.h).
nlohmann::json verdict_schema();
/// The properties of verdict_schema() that its outline has.
std::vector<std::string> verdict_outline();

}  // namespace assay::tools
