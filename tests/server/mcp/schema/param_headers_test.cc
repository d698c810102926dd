#include "server/mcp/schema/param_headers.h"

#include <map>

#include "tests/catch.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

json schema(json properties) { return {{"type", "object"}, {"properties", std::move(properties)}}; }
HeaderLookup headers(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

TEST_CASE("param headers: found along properties") {
  const auto found = param_headers(
      schema({{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
              {"deep",
               {{"type", "object"},
                {"properties", {{"n", {{"type", "integer"}, {"x-mcp-header", "N"}}}}}}}}));
  REQUIRE(found);
  REQUIRE(found->size() == 2);
  CHECK((*found)[1].header == "Mcp-Param-Region");
  CHECK((*found)[0].path == std::vector<std::string>{"deep", "n"});
}

TEST_CASE("param headers: what the protocol forbids is refused") {
  const json text = {{"type", "string"}, {"x-mcp-header", "A"}};
  for (const json& bad : {schema({{"a", {{"type", "number"}, {"x-mcp-header", "A"}}}}),
                          schema({{"a", {{"type", "string"}, {"x-mcp-header", ""}}}}),
                          schema({{"a", {{"type", "string"}, {"x-mcp-header", "a b"}}}}),
                          schema({{"a", {{"type", "string"}, {"x-mcp-header", "a\r\nX"}}}}),
                          schema({{"a", {{"type", "string"}, {"x-mcp-header", 5}}}}),
                          schema({{"a", text}, {"b", {{"type", "string"}, {"x-mcp-header", "a"}}}}),
                          schema({{"a", {{"type", "array"}, {"items", text}}}}),
                          json{{"type", "object"}, {"$defs", {{"x", text}}}}}) {
    INFO(bad.dump());
    CHECK_FALSE(param_headers(bad));
  }
}

TEST_CASE("param headers: must say what the arguments say") {
  const auto known = param_headers(schema({{"s", {{"type", "string"}, {"x-mcp-header", "S"}}},
                                           {"i", {{"type", "integer"}, {"x-mcp-header", "I"}}},
                                           {"b", {{"type", "boolean"}, {"x-mcp-header", "B"}}}}));
  REQUIRE(known);
  const auto mismatch = [&](const json& arguments, std::map<std::string, std::string> sent) {
    return param_mismatch(*known, arguments, headers(std::move(sent)));
  };
  CHECK_FALSE(mismatch(json::object(), {}));
  CHECK_FALSE(mismatch({{"s", nullptr}}, {}));
  CHECK_FALSE(mismatch({{"s", "x"}, {"i", 42}, {"b", true}},
                       {{"Mcp-Param-S", "x"}, {"Mcp-Param-I", "42.0"}, {"Mcp-Param-B", "true"}}));
  CHECK_FALSE(mismatch({{"s", "Hello"}}, {{"Mcp-Param-S", "=?base64?SGVsbG8=?="}}));
  CHECK(mismatch({{"s", "Hello"}}, {{"Mcp-Param-S", "=?base64?SGVsbG8?="}})->find("base64") !=
        std::string::npos);
  CHECK(mismatch({{"s", "x"}}, {})->find("missing") != std::string::npos);
  CHECK(mismatch(json::object(), {{"Mcp-Param-S", "x"}}));
  CHECK(mismatch({{"s", "x"}}, {{"Mcp-Param-S", "y"}}));
  CHECK(mismatch({{"i", 42}}, {{"Mcp-Param-I", "x"}}));
  CHECK(mismatch({{"b", true}}, {{"Mcp-Param-B", "True"}}));
  CHECK(mismatch({{"i", 1}, {"s", "x"}}, {{"Mcp-Param-S", "x"}}));
}

}  // namespace assay::mcp
