#include "server/mcp/schema/schema.h"

#include "tests/catch.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

Schema compiled(const json& schema) {
  auto result = Schema::compile(schema);
  if (!result) FAIL(result.error().message);
  return std::move(*result);
}

std::string first(const Schema& schema, const json& value) {
  const auto problems = schema.check(value);
  return problems.empty() ? "" : problems.front();
}

const json kSchema = json::parse(R"({
  "type": "object", "additionalProperties": false, "required": ["operator"],
  "properties": {
    "operator": {"type": "string", "minLength": 1, "maxLength": 8},
    "split": {"type": "string", "enum": ["standard", "ood", "dsl"]},
    "k": {"type": "integer", "minimum": 1, "maximum": 25},
    "ratio": {"type": ["number", "null"], "exclusiveMinimum": 0},
    "targets": {"type": "array", "items": {"type": "string", "enum": ["cuda:90", "hip:gfx942"]}, "minItems": 1},
    "where": {"$ref": "#/$defs/point"}
  },
  "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}
})");

}  // namespace

TEST_CASE("schema: conforming values pass") {
  const Schema schema = compiled(kSchema);
  CHECK(schema.check(json::parse(R"({"operator":"a"})")).empty());
  CHECK(
      schema
          .check(json::parse(
              R"({"operator":"a","split":"ood","k":25,"ratio":null,"targets":["cuda:90"],"where":{"x":1.5}})"))
          .empty());
}

TEST_CASE("schema: a problem names the property and the valid values") {
  const Schema schema = compiled(kSchema);
  CHECK(first(schema, json::object()) == "missing required property 'operator' (string)");
  CHECK(first(schema, json::parse(R"({"operator":"a","splitt":"ood"})")) ==
        "unknown property \"splitt\"; valid: k, operator, ratio, split, targets, where");
  CHECK(first(schema, json::parse(R"({"operator":"a","split":"odd"})")) ==
        "'split' is \"odd\"; valid values: standard, ood, dsl");
  CHECK(first(schema, json::parse(R"({"operator":5})")) ==
        "'operator' must be of type string, not number 5");
  CHECK(first(schema, json::parse(R"({"operator":"a","k":26})")) ==
        "'k' is 26; it must be at most 25");
  CHECK(first(schema, json::parse(R"({"operator":"a","ratio":0})")) ==
        "'ratio' is 0; it must be greater than 0");
  CHECK(first(schema, json::parse(R"({"operator":"aaaaaaaaa"})")) ==
        "'operator' has 9 characters; at most 8 are allowed");
  CHECK(first(schema, json::parse(R"({"operator":"a","targets":["cuda:90","x"]})")) ==
        "'targets[1]' is \"x\"; valid values: cuda:90, hip:gfx942");
  CHECK(first(schema, json::parse(R"({"operator":"a","targets":[]})")) ==
        "'targets' has 0 items; at least 1 are needed");
  CHECK(first(schema, json::parse(R"({"operator":"a","where":{}})")) ==
        "missing required property 'where.x' (number)");
  CHECK(first(schema, {{"operator", nullptr}}) == "'operator' must be of type string, not null");
  CHECK(first(schema, json::array()) ==
        "the arguments object must be of type object, not array []");
}

TEST_CASE("schema: lengths count characters, not bytes") {
  const Schema schema = compiled(
      json::parse(R"({"type":"object","properties":{"s":{"type":"string","maxLength":3}}})"));
  CHECK(schema.check({{"s", "äöü"}}).empty());
  CHECK(first(schema, {{"s", "äöüß"}}) == "'s' has 4 characters; at most 3 are allowed");
}

TEST_CASE("schema: problems are bounded in number and size") {
  const Schema schema = compiled(kSchema);
  json many = {{"operator", std::string(100'000, 'x')}};
  for (int i = 0; i < 1000; ++i) many["key" + std::to_string(i)] = i;
  const auto problems = schema.check(many);
  CHECK(problems.size() == 8);
  for (const std::string& problem : problems) CHECK(problem.size() < 300);
}

TEST_CASE("schema: when only a combination fails, the message is the validator's") {
  const Schema schema =
      compiled(json::parse(R"({"type":"object","properties":{"v":{"not":{"type":"string"}}}})"));
  CHECK(schema.check({{"v", 1}}).empty());
  CHECK_FALSE(first(schema, {{"v", "s"}}).empty());
}

TEST_CASE("schema: keywords that the validator would ignore are refused") {
  const auto message = [](const char* text) {
    const auto status = lint_schema(json::parse(text));
    return status ? std::string() : status.error().message;
  };
  CHECK(message(R"({"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema"})")
            .empty());
  CHECK(message(R"({"type":"array","prefixItems":[{"type":"string"}]})").find("prefixItems") !=
        std::string::npos);
  CHECK(message(R"({"type":"object","dependentRequired":{"a":["b"]}})").find("dependentRequired") !=
        std::string::npos);
  CHECK(
      message(R"({"type":"object","unevaluatedProperties":false})").find("unevaluatedProperties") !=
      std::string::npos);
  CHECK(message(R"({"type":"object","propertys":{}})").find("propertys") != std::string::npos);
  CHECK(message(R"({"type":"object","properties":{"a":{"pattern":"(a+)+$"}}})")
            .find("#/properties/a") != std::string::npos);
  CHECK(message(R"({"type":"strin"})").find("strin") != std::string::npos);
  CHECK(message(R"({"$ref":"http://example.com/x"})").find("$ref") != std::string::npos);
  CHECK(message(R"({"$ref":"#/$defs/missing"})").find("missing") != std::string::npos);
  CHECK(message(R"({"$schema":"http://json-schema.org/draft-07/schema#"})").find("$schema") !=
        std::string::npos);
  CHECK_FALSE(Schema::compile(json::parse(R"({"type":"integer","minimum":"low"})")).has_value());
  json deep = {{"type", "object"}};
  for (int i = 0; i < 40; ++i) deep = {{"type", "array"}, {"items", deep}};
  CHECK_FALSE(lint_schema(deep).has_value());
}

}  // namespace assay::mcp
