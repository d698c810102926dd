#include "server/mcp/protocol/jsonrpc.h"

#include "tests/catch.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

int code_of(std::string_view text, const MessageLimits& limits = {}) {
  const auto parsed = parse_message(text, limits);
  return parsed ? 0 : parsed.error()["error"]["code"].get<int>();
}

}  // namespace

TEST_CASE("jsonrpc: requests, notifications and responses are told apart") {
  auto request = parse_message(R"({"jsonrpc":"2.0","id":7,"method":"ping"})");
  REQUIRE(request);
  CHECK(request->kind == Message::Kind::request);
  CHECK(request->id == 7);
  CHECK(request->params.is_object());
  auto notification =
      parse_message(R"({"jsonrpc":"2.0","method":"notifications/initialized","params":{"a":1}})");
  REQUIRE(notification);
  CHECK(notification->kind == Message::Kind::notification);
  CHECK(notification->params["a"] == 1);
  auto response = parse_message(R"({"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}})");
  REQUIRE(response);
  CHECK(response->kind == Message::Kind::response);
  CHECK(response->body["error"]["code"] == 1);
}

TEST_CASE("jsonrpc: bytes that are no message get the right code") {
  CHECK(code_of("") == kParseError);
  CHECK(code_of("{") == kParseError);
  CHECK(code_of("{} {}") == kParseError);
  CHECK(code_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}") == kParseError);
  CHECK(code_of("3") == kInvalidRequest);
  CHECK(code_of("[]") == kInvalidRequest);
  CHECK(code_of(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])") == kInvalidRequest);
  CHECK(code_of(R"({"id":1,"method":"ping"})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"1.0","id":1,"method":"ping"})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":null,"method":"ping"})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":""})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":5})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1})") == kInvalidRequest);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})") == kInvalidRequest);
}

TEST_CASE("jsonrpc: an id beyond 64 bits is refused with the valid range") {
  CHECK(code_of(R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"})") == 0);
  CHECK(code_of(R"({"jsonrpc":"2.0","id":-9223372036854775808,"method":"ping"})") == 0);
  const auto refused =
      parse_message(R"({"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"})");
  REQUIRE_FALSE(refused);
  CHECK(refused.error()["error"]["message"] ==
        "'id' must be a string, or an integer from -2^63 to 2^64 - 1");
}

TEST_CASE("jsonrpc: an error carries the id if there is one, and never null") {
  CHECK(parse_message(R"({"jsonrpc":"2.0","id":"q","method":5})").error()["id"] == "q");
  CHECK_FALSE(parse_message("{").error().contains("id"));
}

TEST_CASE("jsonrpc: size and depth are capped before parsing") {
  MessageLimits limits;
  limits.max_bytes = 100;
  CHECK(code_of(std::string(101, ' '), limits) == kInvalidRequest);
  const std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" +
                           std::string(100'000, '[') + std::string(100'000, ']') + "}}";
  CHECK(code_of(deep) == kInvalidRequest);
  // The nesting is exactly as deep as the limit allows, because params is already level 2.
  const std::string nested = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" +
                             std::string(62, '[') + std::string(62, ']') + "}}";
  CHECK(code_of(nested) == 0);
}

TEST_CASE("jsonrpc: dump gives one line, and repairs bytes that are no UTF-8") {
  const std::string line = dump(make_result(1, {{"text", "a\nb\xff"}}));
  CHECK(line.find('\n') == std::string::npos);
  CHECK(json::parse(line)["result"]["text"] == "a\nb\xEF\xBF\xBD");
}

}  // namespace assay::mcp
