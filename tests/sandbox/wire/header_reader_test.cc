#include "sandbox/wire/header_reader.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

namespace {

/// Reads the header `{"x": value}`. Returns the error, or an empty string if there is none.
template <class Read>
std::string error_of(const json& value, Read read) {
  const json object = {{"x", value}};
  HeaderReader in(object, "m");
  read(in);
  const Status status = in.status();
  if (status) return {};
  CHECK(status.error().code == ErrorCode::corrupt);
  return status.error().message;
}

}  // namespace

TEST_CASE("a name is one line and not too long") {
  const auto line = [](const json& value) {
    return error_of(value, [](HeaderReader& in) { in.line("x"); });
  };
  CHECK(line("softmax<float, 1024>").empty());
  CHECK(line("a\nb") == "m: `x` has a control character or a line break");
  CHECK(line(std::string(HeaderReader::kMaxNameBytes + 1, 'a')) == "m: `x` is too long");
  CHECK(line(7) == "m: `x` is not a string");
  CHECK(error_of(nullptr, [](HeaderReader& in) { CHECK(in.optional_line("x").empty()); }).empty());
}

TEST_CASE("fields of the right type are read") {
  const json object = {{"text", "t"},     {"integer", -3},        {"bytes", 4096},
                       {"flag", true},    {"number", 1.5},        {"nan", "nan"},
                       {"below", "-inf"}, {"integers", {-1, 2}},  {"numbers", {1, 2.5}},
                       {"texts", {"a"}},  {"object", {{"y", 1}}}, {"null", nullptr}};
  HeaderReader in(object, "m");
  CHECK(in.text("text") == "t");
  CHECK(in.integer("integer", -3, 0) == -3);
  CHECK(in.bytes("bytes") == 4096);
  CHECK(in.flag("flag"));
  CHECK(in.number("number") == 1.5);
  CHECK(std::isnan(in.number("nan")));
  CHECK(in.number("below") == -std::numeric_limits<double>::infinity());
  CHECK(in.integers("integers", 2) == std::vector<std::int64_t>{-1, 2});
  CHECK(in.numbers("numbers", 2) == std::vector<double>{1, 2.5});
  CHECK(in.texts("texts", 1) == std::vector<std::string>{"a"});
  REQUIRE(in.object("object") != nullptr);
  CHECK(in.object("object")->at("y") == 1);
  CHECK(in.has("text"));
  CHECK_FALSE(in.has("null"));
  CHECK(in.status());
}

TEST_CASE("an optional field may be absent or null") {
  const json object = {{"null", nullptr}, {"there", 1}};
  HeaderReader in(object, "m");
  for (const char* name : {"null", "absent"}) {
    CHECK(in.optional_text(name).empty());
    CHECK_FALSE(in.optional_integer(name));
    CHECK_FALSE(in.optional_flag(name));
    CHECK_FALSE(in.optional_number(name));
    CHECK(in.optional_object(name) == nullptr);
  }
  CHECK(in.optional_integer("there") == 1);
  CHECK(in.status());
}

TEST_CASE("a value of a wrong type or out of range is refused, never converted") {
  const auto integer = [](HeaderReader& in) { in.integer("x", 0, 9); };
  CHECK(error_of(9, integer).empty());
  for (const json& value : {json(10), json(-1), json(1.0), json("1"), json(true), json(nullptr),
                            json(18446744073709551615ULL)})
    CHECK(error_of(value, integer) == "m: `x` is not a number from 0 to 9");
  CHECK(error_of(-1, [](HeaderReader& in) { in.bytes("x"); }) ==
        "m: `x` is not a number from 0 to 9223372036854775807");
  CHECK(error_of(3, [](HeaderReader& in) { in.text("x"); }) == "m: `x` is not a string");
  CHECK(error_of(std::string(HeaderReader::kMaxTextBytes + 1, 'a'),
                 [](HeaderReader& in) { in.text("x"); }) == "m: `x` is too long");
  CHECK(error_of(1, [](HeaderReader& in) { in.flag("x"); }) == "m: `x` is neither true nor false");
  CHECK(error_of("1", [](HeaderReader& in) { in.number("x"); }) == "m: `x` is not a number");
  CHECK(error_of(json::array(), [](HeaderReader& in) { in.object("x"); }) ==
        "m: `x` is not an object");
}

TEST_CASE("a list with a wrong entry, or with too many, is refused and read as empty") {
  const auto integers = [](HeaderReader& in) { CHECK(in.integers("x", 2, 0).empty()); };
  const std::string out_of_range =
      "m: `x` has an entry that is not a number from 0 to 9223372036854775807";
  CHECK(error_of({1, -1}, integers) == out_of_range);
  CHECK(error_of({1, 1.5}, integers) == out_of_range);
  CHECK(error_of({1, 18446744073709551615ULL}, integers) == out_of_range);
  CHECK(error_of({1, 2, 3}, integers) == "m: `x` has more than 2 entries");
  CHECK(error_of(1, integers) == "m: `x` is not a list");
  CHECK(error_of({1.5, "nan"}, [](HeaderReader& in) { CHECK(in.numbers("x", 2).empty()); }) ==
        "m: `x` has an entry that is not a number");
  CHECK(error_of({"a", 1}, [](HeaderReader& in) { CHECK(in.texts("x", 2).empty()); }) ==
        "m: `x` has an entry that is not a string or is too long");
}

TEST_CASE("the first error stays, also that of a part") {
  const json object = {{"part", json::object()}};
  HeaderReader in(object, "m");
  HeaderReader part(*in.object("part"), "part");
  part.text("name");
  in.merge(part);
  in.text("absent");
  in.reject("is bad");
  REQUIRE_FALSE(in.status());
  CHECK(in.status().error().message == "part: `name` is missing");
}

TEST_CASE("a header that is not an object is refused") {
  const json list = json::array({1});
  HeaderReader in(list, "m");
  CHECK(in.text("x").empty());
  CHECK_FALSE(in.has("x"));
  CHECK(in.status().error().message == "m: is not an object");
}

TEST_CASE("the error of an unexpected message quotes a bounded part of its type") {
  Frame frame;
  frame.header = {{"type", std::string(1'000, 'a')}};
  const Status status = expect_type(frame, "ready");
  REQUIRE_FALSE(status);
  CHECK(status.error().message ==
        "got a message `" + std::string(64, 'a') + "` where `ready` was due");
}
