#include "server/mcp/schema/fast_schema.h"

#include <string>
#include <vector>

#include "server/mcp/schema/schema.h"
#include "tests/catch.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// Values of every type, and values at the bounds of the schemas below.
std::vector<json> leaves() {
  return {nullptr,
          true,
          false,
          0,
          1,
          -1,
          2,
          25,
          26,
          9007199254740993LL,
          -0.5,
          0.5,
          3.0,
          25.0,
          "",
          "a",
          "ab",
          "abcd",
          "abcde",
          "\xc3\xa9\xc3\xa9\xc3\xa9",
          "\xf0\x9f\x98\x80",
          "standard",
          json::array(),
          json::object()};
}

/// Schemas with every keyword that FastSchema knows, and with some that it does not know.
std::vector<json> schemas() {
  std::vector<json> all = {true, false, json::object()};
  for (const char* text :
       {R"({"type":"object"})",
        R"({"type":"array"})",
        R"({"type":"string"})",
        R"({"type":"integer"})",
        R"({"type":"number"})",
        R"({"type":"boolean"})",
        R"({"type":"null"})",
        R"({"type":["string","null"]})",
        R"({"type":["integer","array"]})",
        R"({"enum":["standard",1,null,0.5,true]})",
        R"({"enum":[1.0,[],{}]})",
        R"({"minimum":1})",
        R"({"maximum":25})",
        R"({"minimum":-0.5,"maximum":0.5})",
        R"({"minimum":9007199254740993})",
        R"({"exclusiveMinimum":1})",
        R"({"multipleOf":2})",
        R"({"minLength":1})",
        R"({"minLength":2,"maxLength":4})",
        R"({"maxLength":0})",
        R"({"minItems":1})",
        R"({"maxItems":1})",
        R"({"uniqueItems":true})",
        R"({"items":{"type":"string"}})",
        R"({"items":{"type":"integer","minimum":1}})",
        R"({"required":["a"]})",
        R"({"properties":{"a":{"type":"string"}}})",
        R"({"properties":{"a":{"type":"integer"}},"additionalProperties":false})",
        R"({"properties":{"a":{}},"required":["a","b"],"additionalProperties":true})",
        R"({"additionalProperties":{"type":"string"}})",
        R"({"minProperties":1})",
        R"({"const":1})",
        R"({"not":{"type":"string"}})",
        R"({"anyOf":[{"type":"string"}]})",
        R"({"properties":{"a":{"items":{"properties":{"b":{"maximum":1}}}}}})",
        R"({"title":"t","description":"d","default":1,"type":"integer"})"})
    all.push_back(json::parse(text));
  return all;
}

std::vector<json> values() {
  std::vector<json> all = leaves();
  for (const json& leaf : leaves()) {
    all.push_back(json::array({leaf}));
    all.push_back(json::array({leaf, 1}));
    all.push_back({{"a", leaf}});
    all.push_back({{"a", leaf}, {"b", "x"}});
    all.push_back({{"c", leaf}});
    all.push_back({{"a", json::array({{{"b", leaf}}})}});
  }
  return all;
}

}  // namespace

TEST_CASE("fast schema: what it accepts, the library accepts too") {
  for (const json& schema : schemas()) {
    const auto compiled = Schema::compile(schema);
    REQUIRE(compiled);
    const FastSchema fast(schema);
    for (const json& value : values()) {
      INFO(schema.dump() << " of " << value.dump());
      if (fast.accepts(value)) CHECK(compiled->check_with_library(value).empty());
      CHECK(compiled->check(value) == compiled->check_with_library(value));
    }
  }
}

TEST_CASE("fast schema: it accepts ordinary arguments") {
  const FastSchema schema(json::parse(R"({
    "type": "object", "additionalProperties": false, "required": ["operator"],
    "properties": {
      "operator": {"type": "string", "minLength": 1, "maxLength": 8},
      "split": {"type": "string", "enum": ["standard", "ood", "dsl"]},
      "k": {"type": "integer", "minimum": 1, "maximum": 25},
      "targets": {"type": "array", "items": {"type": "string"}, "minItems": 1}}})"));
  CHECK(schema.accepts(
      {{"operator", "relu"}, {"split", "ood"}, {"k", 25}, {"targets", json::array({"a"})}}));
  CHECK_FALSE(schema.accepts({{"split", "ood"}}));
  CHECK_FALSE(schema.accepts({{"operator", "relu"}, {"other", 1}}));
  CHECK_FALSE(schema.accepts({{"operator", "relu"}, {"k", 26}}));
}

}  // namespace assay::mcp
