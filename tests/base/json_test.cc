#include "base/json.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace assay {
namespace {

using nlohmann::json;

std::string library_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void check_same(const json& value) {
  CHECK(json_text(value) == library_text(value));
  CHECK(json_text_bytes(value) == library_text(value).size());
}

}  // namespace

TEST_CASE("json: values have the same text as in the library") {
  for (const json& value :
       {json(nullptr),
        json(true),
        json(false),
        json(0),
        json(-7),
        json(std::numeric_limits<std::int64_t>::min()),
        json(std::numeric_limits<std::uint64_t>::max()),
        json(0.1),
        json(1e300),
        json(-0.0),
        json(3.0),
        json(std::numeric_limits<double>::infinity()),
        json(std::numeric_limits<double>::quiet_NaN()),
        json(""),
        json("plain"),
        json::object(),
        json::array(),
        json(json::value_t::discarded),
        json::binary({1, 2}),
        json{{"b", json::array({1, json::array(), json::object()})}, {"a", {{"c", nullptr}}}}})
    check_same(value);
}

TEST_CASE("json: strings with every byte have the same text as in the library") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    check_same(text);
    check_same("a" + text + "b\n\"" + text);
    check_same(json{{text, text}});
  }
}

TEST_CASE("json: strings of several special characters have the same text as in the library") {
  const std::vector<std::string> parts = {"a",
                                          "\n",
                                          "\"",
                                          "\\",
                                          "\t",
                                          "\x01",
                                          "\x7f",
                                          "\xc3\xa9",
                                          "\xe2\x82\xac",
                                          "\xf0\x9f",
                                          "\xf0\x9f\x98\x80",
                                          "\xed\xa0\x80",
                                          "\xff",
                                          "/"};
  for (const std::string& first : parts)
    for (const std::string& second : parts)
      for (const std::string& third : parts) check_same(first + second + third);
}

}  // namespace assay
