#include "server/mcp/schema/schema.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored \
    "-Wrestrict"  // GCC 12 warns wrongly of the validator's inlined string code
#endif
#define VALIJSON_USE_EXCEPTIONS 1  // without it the validator aborts the process
#include <exception>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "server/mcp/schema/fast_schema.h"

namespace assay::mcp {
namespace {

using nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

constexpr int kMaxSchemaDepth = 32;

const std::set<std::string, std::less<>> kAnnotations = {
    "title",       "description", "default",   "examples",
    "deprecated",  "readOnly",    "writeOnly", "$comment",
    "$anchor",        // names a place, which no $ref may use here
    "x-mcp-header"};  // param_headers.h
const std::set<std::string, std::less<>> kAssertions = {"type",
                                                        "enum",
                                                        "const",
                                                        "required",
                                                        "minimum",
                                                        "maximum",
                                                        "exclusiveMinimum",
                                                        "exclusiveMaximum",
                                                        "multipleOf",
                                                        "minLength",
                                                        "maxLength",
                                                        "minItems",
                                                        "maxItems",
                                                        "uniqueItems",
                                                        "minProperties",
                                                        "maxProperties"};
const std::set<std::string, std::less<>> kOneSchema = {
    "items", "additionalProperties", "not", "if", "then", "else", "propertyNames", "contains"};
const std::set<std::string, std::less<>> kSchemaList = {"allOf", "anyOf", "oneOf"};
const std::set<std::string, std::less<>> kSchemaMap = {"properties", "$defs"};
const std::set<std::string, std::less<>> kTypes = {"object", "array",   "string", "integer",
                                                   "number", "boolean", "null"};

std::string known_keywords() {
  std::string text;
  for (const auto* group : {&kAssertions, &kOneSchema, &kSchemaList, &kSchemaMap, &kAnnotations}) {
    for (const std::string& keyword : *group) text.append(keyword).append(", ");
  }
  return text.append("$ref to #/$defs/...");
}

Status lint(const json& root, const json& schema, const std::string& path, int depth);

Status lint_type(const json& value, const std::string& path) {
  const json types = value.is_array() ? value : json::array({value});
  for (const json& type : types) {
    if (!type.is_string() || kTypes.count(type.get_ref<const std::string&>()) == 0) {
      return fail(ErrorCode::invalid_argument,
                  path + "/type: " + type.dump() +
                      " is no type; valid: object, array, string, integer, number, boolean, null");
    }
  }
  return {};
}

Status lint_ref(const json& root, const json& value, const std::string& path) {
  if (!value.is_string() || value.get_ref<const std::string&>().rfind("#/$defs/", 0) != 0) {
    return fail(ErrorCode::invalid_argument,
                path + "/$ref: only local references (#/$defs/NAME) are supported");
  }
  try {
    if (root.contains(json::json_pointer(value.get<std::string>().substr(1)))) return {};
  } catch (const json::exception&) {  // the text is not a JSON pointer; the error below says so
  }
  return fail(ErrorCode::invalid_argument,
              path + "/$ref: " + value.dump() + " does not exist in this schema");
}

Status lint_keyword(const json& root, const std::string& key, const json& value,
                    const std::string& path, int depth) {
  if (kAnnotations.count(key) > 0) return {};
  if (key == "type") return lint_type(value, path);
  if (key == "$ref") return lint_ref(root, value, path);
  if (kAssertions.count(key) > 0) return {};
  if (kOneSchema.count(key) > 0) return lint(root, value, path + "/" + key, depth + 1);
  if (kSchemaList.count(key) > 0 && value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto status = lint(root, value[i], path + "/" + key + "/" + std::to_string(i), depth + 1);
          !status)
        return status;
    }
    return {};
  }
  if (kSchemaMap.count(key) > 0 && value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (auto status = lint(root, member, path + "/" + key + "/" + name, depth + 1); !status)
        return status;
    }
    return {};
  }
  if (key == "$schema" && depth == 0 && value == "https://json-schema.org/draft/2020-12/schema")
    return {};
  return fail(ErrorCode::invalid_argument,
              path + ": the validator does not support '" + key +
                  "' with this value; valid keywords: " + known_keywords());
}

Status lint(const json& root, const json& schema, const std::string& path, int depth) {
  if (schema.is_boolean()) return {};
  if (!schema.is_object())
    return fail(ErrorCode::invalid_argument, path + ": a schema is an object or a boolean");
  if (depth > kMaxSchemaDepth)
    return fail(ErrorCode::invalid_argument,
                path + ": schemas nest at most " + std::to_string(kMaxSchemaDepth) + " levels");
  for (const auto& [key, value] : schema.items()) {
    if (auto status = lint_keyword(root, key, value, path, depth); !status) return status;
  }
  return {};
}

}  // namespace

struct Schema::Compiled {
  explicit Compiled(const json& text) : document(text), fast(text) {}
  json document;
  FastSchema fast;
  valijson::Schema schema;
};

Schema::Schema(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

Status lint_schema(const json& schema) { return lint(schema, schema, "#", 0); }

Result<Schema> Schema::compile(const json& schema) {
  if (auto status = lint_schema(schema); !status) return fail(status.error());
  auto compiled = std::make_unique<Compiled>(schema);
  try {
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(Adapter(compiled->document), compiled->schema);
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid_argument,
                std::string("the validator refuses the schema: ") + error.what());
  }
  return Schema(std::move(compiled));
}

std::vector<std::string> Schema::check(const json& instance) const {
  if (compiled_->fast.accepts(instance)) return {};
  return check_with_library(instance);
}

std::vector<std::string> Schema::check_with_library(const json& instance) const {
  valijson::ValidationResults results;
  try {
    valijson::Validator validator;
    if (validator.validate(compiled_->schema, Adapter(instance), &results)) return {};
  } catch (const std::exception& error) {
    return {std::string("the value cannot be validated: ") + error.what()};
  }
  std::vector<std::string> problems = explain(compiled_->document, instance);
  for (auto it = results.begin(); problems.empty() && it != results.end(); ++it) {
    std::string path;
    for (std::size_t i = 1; i < it->context.size(); ++i) path += it->context[i];
    problems.push_back((path.empty() ? "the arguments object" : path) + ": " + it->description);
  }
  if (problems.empty()) problems.emplace_back("the value does not conform to the schema");
  return problems;
}

const json& Schema::document() const { return compiled_->document; }

}  // namespace assay::mcp
