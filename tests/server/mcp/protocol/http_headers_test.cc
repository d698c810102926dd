#include "server/mcp/protocol/http_headers.h"

#include <map>

#include "tests/catch.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

std::optional<std::string> mismatch(const json& message,
                                    const std::map<std::string, std::string>& headers) {
  auto parsed = parse_message(dump(message));
  REQUIRE(parsed);
  return header_mismatch(*parsed, [&](const char* name) {
    return headers.count(name) > 0 ? std::optional(headers.at(name)) : std::nullopt;
  });
}

}  // namespace

TEST_CASE("http headers: a loopback server answers to loopback names only") {
  for (const char* host :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:8931", "[::1]", "[::1]:80"})
    CHECK(host_allowed(host, "127.0.0.1"));
  for (const char* host :
       {"", "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example",
        "127.0.0.1:80:80", "10.0.0.1", "localhost:", "localhost:80x", "[::1", "[::1]evil"}) {
    INFO(host);
    CHECK_FALSE(host_allowed(host, "127.0.0.1"));
  }
}

TEST_CASE(
    "http headers: a public server answers to literals and its own name, which no attacker can "
    "rebind") {
  CHECK(host_allowed("10.1.2.3:8931", "0.0.0.0"));
  CHECK(host_allowed("[fe80::1]:8931", "0.0.0.0"));
  CHECK(host_allowed("gpu7.lab", "gpu7.lab"));
  CHECK(host_allowed("localhost", "0.0.0.0"));
  CHECK_FALSE(host_allowed("evil.example", "0.0.0.0"));
  CHECK_FALSE(host_allowed("10.1.2.3.evil.example", "0.0.0.0"));
}

TEST_CASE("http headers: origins") {
  CHECK(origin_allowed("http://localhost:6274", "127.0.0.1"));
  CHECK(origin_allowed("https://127.0.0.1", "127.0.0.1"));
  for (const char* origin : {"null", "", "https://evil.example", "http://localhost@evil.example",
                             "file://localhost", "http://localhost/path"}) {
    INFO(origin);
    CHECK_FALSE(origin_allowed(origin, "127.0.0.1"));
  }
}

TEST_CASE("http headers: values survive the base64 form") {
  CHECK(decode_header_value("us-west1") == "us-west1");
  CHECK(decode_header_value("=?base64?SGVsbG8sIOS4lueVjA==?=") == "Hello, 世界");
  CHECK(decode_header_value("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=") == "=?base64?literal?=");
  CHECK_FALSE(decode_header_value("=?base64?a?=").has_value());
  CHECK_FALSE(decode_header_value("=?base64?!!!!?=").has_value());
  CHECK(encode_header_value("plain_name") == "plain_name");
  for (const char* value :
       {"", " padded ", "a\nb", "Hello, 世界", "=?base64?x?=", "ab", "abc", "abcd"}) {
    const std::string encoded = encode_header_value(value);
    CHECK(encoded.find('\n') == std::string::npos);
    CHECK(decode_header_value(encoded) == value);
  }
}

TEST_CASE("http headers: they must agree with the body") {
  const json call = stateless_call(1, "add");
  const std::map<std::string, std::string> good = {
      {kHeaderVersion, "2026-07-28"}, {kHeaderMethod, "tools/call"}, {kHeaderName, "add"}};
  CHECK_FALSE(mismatch(call, good));
  auto encoded = good;
  encoded[kHeaderName] = "=?base64?YWRk?=";
  CHECK_FALSE(mismatch(call, encoded));
  for (const auto& [name, value] : good) {
    auto missing = good;
    missing.erase(name);
    CHECK(mismatch(call, missing).value().find(name) != std::string::npos);
    auto wrong = good;
    wrong[name] = "other";
    CHECK(mismatch(call, wrong).value().find("other") != std::string::npos);
  }
  const json list = make_request(1, "tools/list", {{"_meta", meta()}});
  CHECK_FALSE(mismatch(list, {{kHeaderVersion, "2026-07-28"}, {kHeaderMethod, "tools/list"}}));
}

TEST_CASE("http headers: accept lists") {
  CHECK(accepts("application/json, text/event-stream", "text/event-stream"));
  CHECK(accepts("TEXT/EVENT-STREAM;q=0.5", "text/event-stream"));
  CHECK_FALSE(accepts("application/json", "text/event-stream"));
  CHECK_FALSE(accepts("", "text/event-stream"));
  CHECK(accepts("application/json; charset=utf-8", "application/json"));
}

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

TEST_CASE("param headers: they are found below properties") {
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

TEST_CASE("param headers: schemas that the protocol forbids are refused") {
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

TEST_CASE("param headers: they must agree with the arguments") {
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
