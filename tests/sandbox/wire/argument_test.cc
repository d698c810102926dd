#include "sandbox/wire/argument.h"

#include <cmath>
#include <limits>

#include "sandbox/wire/header_reader.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

namespace {

const std::vector<Argument> kArguments = {
    {.name = "x",
     .dtype = "float16",
     .shape = {2, 3},
     .strides = {3, 1},
     .fd = 1,
     .offset = 256,
     .nbytes = 12},
    {.name = "y", .dtype = "int8", .shape = {}, .strides = {}, .nbytes = 1},
    {.name = "n", .is_tensor = false, .scalar_type = "int", .value = std::int64_t{-4}},
    {.name = "eps", .is_tensor = false, .scalar_type = "float", .value = 1e-5},
    {.name = "causal", .is_tensor = false, .scalar_type = "bool", .value = true}};

Result<std::vector<Argument>> read(const json& list) {
  const json header = json::parse(json({{"arguments", list}}).dump());
  HeaderReader in(header, "prepared");
  std::vector<Argument> arguments = read_arguments(in, "arguments");
  if (Status status = in.status(); !status) return fail(status.error());
  return arguments;
}

}  // namespace

TEST_CASE("tensors and scalars survive writing and reading") {
  const json written = to_json(kArguments);
  const Result<std::vector<Argument>> arguments = read(written);
  REQUIRE(arguments);
  CHECK(to_json(*arguments) == written);
  REQUIRE(arguments->size() == kArguments.size());
  CHECK((*arguments)[0].strides == std::vector<std::int64_t>{3, 1});
  CHECK((*arguments)[0].fd == 1);
  CHECK_FALSE((*arguments)[1].fd);
  CHECK((*arguments)[2].value == kArguments[2].value);
  CHECK((*arguments)[3].value == kArguments[3].value);
  CHECK((*arguments)[4].value == kArguments[4].value);
  CHECK(written[0] == json({{"name", "x"},
                            {"kind", "tensor"},
                            {"dtype", "float16"},
                            {"shape", {2, 3}},
                            {"strides", {3, 1}},
                            {"fd", 1},
                            {"offset", 256},
                            {"nbytes", 12}}));
  CHECK(written[3] ==
        json({{"name", "eps"}, {"kind", "scalar"}, {"type", "float"}, {"value", 1e-5}}));
}

TEST_CASE("floats that JSON cannot hold are texts") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto text_of = [](double value) {
    const std::vector<Argument> sent = {
        {.name = "low", .is_tensor = false, .scalar_type = "float", .value = value}};
    const json written = to_json(sent);
    const Result<std::vector<Argument>> received = read(written);
    REQUIRE(received);
    CHECK(to_json(*received) == written);
    const double back = std::get<double>((*received)[0].value);
    CHECK((std::isnan(value) ? std::isnan(back) : back == value));
    return written[0].at("value");
  };
  CHECK(text_of(infinity) == "inf");
  CHECK(text_of(-infinity) == "-inf");
  CHECK(text_of(std::nan("")) == "nan");
}

TEST_CASE("a description with a wrong field is refused, and the error names the field") {
  const json written = to_json(kArguments);
  const auto refused = [&](std::size_t index, const char* name, const json& value,
                           const std::string& reason) {
    json list = written;
    list[index][name] = value;
    const Result<std::vector<Argument>> arguments = read(list);
    INFO(reason);
    REQUIRE_FALSE(arguments);
    CHECK(arguments.error().message == reason);
  };
  refused(0, "kind", "matrix", "arguments: `kind` is tensor or scalar");
  refused(0, "dtype", 16, "arguments: `dtype` is not a string");
  refused(0, "offset", -1, "arguments: `offset` is not a number from 0 to 9223372036854775807");
  refused(0, "shape", json::array_t(kMaxTensorRank + 1, 1),
          "arguments: `shape` has more than 16 entries");
  refused(2, "value", 0.5,
          "arguments: `value` is not a number from -9223372036854775808 to 9223372036854775807");
  refused(3, "type", "double", "arguments: `type` is int, float or bool");
  refused(4, "value", 1, "arguments: `value` is neither true nor false");
  for (const char* name : {"kind", "dtype", "shape", "strides", "offset", "nbytes"}) {
    json list = written;
    list[0].erase(name);
    INFO(name);
    CHECK_FALSE(read(list));
  }
  CHECK(read(json::array_t(kMaxArguments, written[0])));
  CHECK_FALSE(read(json::array_t(kMaxArguments + 1, written[0])));
}
