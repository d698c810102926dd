#include "sandbox/wire/argument.h"

#include <cmath>

#include "base/json.h"
#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

// JSON has no numbers for NaN and the infinities. HeaderReader::number() reads these texts.
json float_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Argument read_argument(const json& object, HeaderReader& outer, const char* name) {
  HeaderReader in(object, name);
  Argument argument;
  argument.name = in.optional_text("name");
  const std::string kind = in.text("kind");
  argument.is_tensor = kind == "tensor";
  if (argument.is_tensor) {
    argument.dtype = in.text("dtype");
    argument.shape = in.integers("shape", kMaxTensorRank);
    argument.strides = in.integers("strides", kMaxTensorRank);
    argument.fd = in.optional_integer("fd");
    argument.offset = in.integer("offset", 0, kHighestInteger);
    argument.nbytes = in.integer("nbytes", 0, kHighestInteger);
  } else if (kind == "scalar") {
    argument.scalar_type = in.text("type");
    if (argument.scalar_type == "int")
      argument.value = in.integer("value", kLowestInteger, kHighestInteger);
    else if (argument.scalar_type == "float")
      argument.value = in.number("value");
    else if (argument.scalar_type == "bool")
      argument.value = in.flag("value");
    else
      in.reject("`type` is int, float or bool");
  } else {
    in.reject("`kind` is tensor or scalar");
  }
  outer.merge(in);
  return argument;
}

}  // namespace

json to_json(const Argument& argument) {
  if (!argument.is_tensor) {
    json out = {{"name", argument.name}, {"kind", "scalar"}, {"type", argument.scalar_type}};
    if (const auto* number = std::get_if<double>(&argument.value))
      out["value"] = float_json(*number);
    else
      std::visit([&](auto value) { out["value"] = value; }, argument.value);
    return out;
  }
  json out = {{"name", argument.name},       {"kind", "tensor"},
              {"dtype", argument.dtype},     {"shape", argument.shape},
              {"strides", argument.strides}, {"offset", argument.offset},
              {"nbytes", argument.nbytes}};
  if (argument.fd) out["fd"] = *argument.fd;
  return out;
}

json to_json(const std::vector<Argument>& arguments) {
  json out = json::array();
  for (const Argument& argument : arguments) out.push_back(to_json(argument));
  return out;
}

std::vector<Argument> read_arguments(HeaderReader& in, const char* name) {
  std::vector<Argument> arguments;
  for (const json& entry : in.list(name, kMaxArguments))
    arguments.push_back(read_argument(entry, in, name));
  return arguments;
}

}  // namespace assay::sandbox
