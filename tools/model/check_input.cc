#include "tools/model/check_input.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace assay::tools {
namespace {

using sandbox::CheckArgument;

constexpr std::size_t kShownInputBytes = 80;
constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kMostNameBytes = 64;

struct DtypeName {
  std::string_view brief, name;
};
constexpr std::array kDtypes = {DtypeName{"f16", "float16"}, DtypeName{"bf16", "bfloat16"},
                                DtypeName{"f32", "float32"}, DtypeName{"f64", "float64"},
                                DtypeName{"i8", "int8"},     DtypeName{"i16", "int16"},
                                DtypeName{"i32", "int32"},   DtypeName{"i64", "int64"},
                                DtypeName{"u8", "uint8"},    DtypeName{"bool", "bool"}};

/// A distribution of the elements of an input. docs/how-to/check-a-kernel.md describes them.
struct DistributionName {
  std::string_view name;
  std::size_t least, most;  // numbers of parameters
};
constexpr std::array kDistributions = {
    DistributionName{"normal", 0, 0}, DistributionName{"uniform", 0, 2},
    DistributionName{"range", 1, 2},  DistributionName{"arange", 0, 0},
    DistributionName{"perm", 0, 0},   DistributionName{"offsets", 1, 1},
    DistributionName{"zeros", 0, 0},  DistributionName{"ones", 0, 0}};

std::string without_space(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (c != ' ' && c != '\t') kept += c;
  }
  return kept;
}

bool is_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string::npos) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

bool is_whole(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Returns a product of numbers and axes without braces, or "" if the text is none.
std::string extent_of(const std::string& text) {
  std::string product;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t star = std::min(text.find('*', from), text.size());
    std::string factor = text.substr(from, star - from);
    if (factor.size() > 2 && factor.front() == '{' && factor.back() == '}')
      factor = factor.substr(1, factor.size() - 2);
    if (!is_python_name(factor) && !is_whole(factor)) return "";
    product += (product.empty() ? "" : "*") + factor;
    from = star + 1;
  }
  return product;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

/// Reads "range(0,{n})" into the argument. Returns what is wrong with it, or "".
std::string read_distribution(const std::string& text, CheckArgument& argument) {
  if (text.empty()) {
    argument.distribution = "default";
    return "";
  }
  const std::size_t open = text.find('(');
  const std::string name = text.substr(0, open);
  const auto known = std::find_if(kDistributions.begin(), kDistributions.end(),
                                  [&](const DistributionName& one) { return one.name == name; });
  if (known == kDistributions.end())
    return "unknown distribution '" + name +
           "'; valid: " + join(kDistributions, ", ", &DistributionName::name);
  if (open != std::string::npos && text.back() != ')') return "')' is missing at its end";
  const std::vector<std::string> parts =
      open == std::string::npos ? std::vector<std::string>()
                                : parts_of(text.substr(open + 1, text.size() - open - 2));
  if (parts.size() < known->least || parts.size() > known->most)
    return name + " takes " +
           (known->most == 0              ? "no parameter"
            : known->least == known->most ? "one parameter"
                                          : std::to_string(known->least) + " to " +
                                                std::to_string(known->most) + " parameters");
  std::vector<std::string> values;
  for (const std::string& part : parts) {
    const std::string value = is_number(part) ? part : extent_of(part);
    if (value.empty()) return "'" + part + "' is neither a number nor a product of axes";
    values.push_back(value);
  }
  argument.distribution = name;
  if (values.size() == 1 && name != "uniform") values.insert(values.begin(), "0");
  if (values.size() == 1) values.insert(values.begin(), "0");
  if (values.size() == 2) {
    argument.low = values[0];
    argument.high = values[1];
  }
  return "";
}

/// Reads "f32[{n},64] normal" into the argument. Returns what is wrong with it, or "".
std::string read_tensor(const std::string& text, std::size_t open, CheckArgument& argument) {
  const std::string dtype = text.substr(0, open);
  const auto known = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeName& one) {
    return one.brief == dtype || one.name == dtype;
  });
  if (known == kDtypes.end())
    return "unknown dtype '" + dtype + "'; valid: " + join(kDtypes, ", ", &DtypeName::brief);
  const std::size_t close = text.find(']', open);
  if (close == std::string::npos) return "']' is missing";
  argument.type = "tensor";
  argument.dtype = known->name;
  for (const std::string& part : parts_of(text.substr(open + 1, close - open - 1))) {
    const std::string extent = extent_of(part);
    if (extent.empty())
      return "size '" + part + "' is neither a number nor a product of axes, such as {n} or 2*{n}";
    argument.shape.push_back(extent);
  }
  if (argument.shape.size() > kMostDimensions)
    return "a tensor has at most " + std::to_string(kMostDimensions) + " dimensions";
  return read_distribution(text.substr(close + 1), argument);
}

/// Reads "1.5", "3", "true" or "{n}" into the argument. Returns what is wrong with it, or "".
std::string read_scalar(const std::string& text, CheckArgument& argument) {
  argument.value = text;
  if (text == "true" || text == "false") {
    argument.type = "bool";
  } else if (is_whole(text)) {
    argument.type = "int";
  } else if (is_number(text)) {
    argument.type = "float";
  } else if (text.find('{') != std::string::npos && !extent_of(text).empty()) {
    argument.type = "int";
    argument.value = extent_of(text);
  } else {
    return "'" + text + "' is neither a tensor nor a number, true or false";
  }
  return "";
}

}  // namespace

bool is_python_name(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= kMostNameBytes && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

Status read_check_axis(const std::string& text,
                       std::map<std::string, std::vector<std::int64_t>>& axes) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                "axis '" + cut_end(text, kShownInputBytes) +
                    "' is not NAME=NUMBER,NUMBER,..., such as n=1000,100003");
  };
  const std::size_t equals = text.find('=');
  const std::string name = without_space(text.substr(0, equals));
  if (equals == std::string::npos || !is_python_name(name)) return wrong();
  for (const std::string& part : parts_of(without_space(text.substr(equals + 1)))) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) return wrong();
    axes[name].push_back(value);
  }
  return axes.contains(name) ? Status() : wrong();
}

Result<CheckArgument> parse_check_input(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "input '" + cut_end(text, kShownInputBytes) +
                                                 "': " + why + "; an input is " + kCheckInputForms);
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return wrong("'=' is missing");
  CheckArgument argument;
  argument.name = without_space(text.substr(0, equals));
  if (!is_python_name(argument.name)) return wrong("'" + argument.name + "' is not a name");
  const std::string rest = without_space(text.substr(equals + 1));
  const std::size_t open = rest.find('[');
  const std::string why =
      open == std::string::npos ? read_scalar(rest, argument) : read_tensor(rest, open, argument);
  if (!why.empty()) return wrong(why);
  return argument;
}

}  // namespace assay::tools
