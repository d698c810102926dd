#include "operators/spec_section.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>

#include "base/text.h"
#include "operators/names.h"

namespace assay::operators {
namespace {

constexpr std::size_t kShownValueBytes = 80;

std::string shown(const std::string& value) {
  return "'" +
         (value.size() > kShownValueBytes ? value.substr(0, kShownValueBytes) + "..." : value) +
         "'";
}

std::string number_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

void Diagnostics::add(std::uint32_t line, const std::string& message) {
  if (first) return;
  first = Error{ErrorCode::invalid_argument,
                file + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + message};
}

void Section::report_error(std::string_view key, const std::string& message) {
  const toml::node* found = table_.get(key);
  const std::uint32_t line =
      found != nullptr ? found->source().begin.line : table_.source().begin.line;
  diagnostics_.add(
      line, (label_.empty() ? "" : label_ + ": ") + "key '" + std::string(key) + "' " + message);
}

void Section::keys(std::initializer_list<std::string_view> required,
                   std::initializer_list<std::string_view> optional) {
  std::vector<std::string_view> valid(required);
  valid.insert(valid.end(), optional);
  for (const auto& [key, value] : table_) {
    const std::string_view name = key;
    if (std::find(valid.begin(), valid.end(), name) != valid.end()) continue;
    const std::string_view near = nearest(name, valid);
    report_error(
        name, "is unknown" +
                  (near.empty() ? std::string() : "; did you mean '" + std::string(near) + "'?") +
                  "; valid: " + join(valid));
  }
  for (const std::string_view key : required) {
    if (!has(key)) report_error(key, "is missing; required: " + join(required));
  }
}

const toml::node* Section::node(std::string_view key) {
  const toml::node* found = table_.get(key);
  if (found == nullptr) report_error(key, "is missing");
  return found;
}

std::string Section::text(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  const auto* value = found->as_string();
  if (value == nullptr || value->get().empty()) {
    report_error(key, "must be a string that is not empty");
    return {};
  }
  return value->get();
}

std::string Section::identifier(std::string_view key) {
  std::string value = text(key);
  if (!value.empty() && !is_identifier(value)) {
    report_error(key, "is " + shown(value) +
                          "; valid: lower-case letters, digits and underscores, a letter first, at "
                          "most 64 characters");
  }
  return value;
}

std::string Section::choice(std::string_view key, Names valid) {
  std::string value = text(key);
  if (!value.empty() && std::find(valid.begin(), valid.end(), value) == valid.end()) {
    report_error(key, "is " + shown(value) + "; valid: " + join(valid));
  }
  return value;
}

std::int64_t Section::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const toml::node* found = node(key);
  if (found == nullptr) return low;
  const auto* value = found->as_integer();
  if (value == nullptr || value->get() < low || value->get() > high) {
    report_error(key,
                 "must be an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
  }
  return value->get();
}

double Section::number(std::string_view key, double low, double high) {
  const toml::node* found = node(key);
  if (found == nullptr) return low;
  const std::optional<double> value = found->is_number() ? found->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || *value < low || *value > high) {
    report_error(key, "must be a number from " + number_text(low) + " to " + number_text(high));
    return low;
  }
  return *value;
}

bool Section::boolean(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return false;
  if (!found->is_boolean()) report_error(key, "must be true or false");
  return found->value_or(false);
}

std::vector<std::string> Section::extents(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  std::vector<std::string> items;
  const auto* array = found->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const toml::node& item = *array->get(i);
    if (item.is_string()) {
      items.push_back(item.as_string()->get());
    } else if (item.is_integer() && item.as_integer()->get() >= 0) {
      items.push_back(std::to_string(item.as_integer()->get()));
    } else {
      array = nullptr;
    }
  }
  if (array == nullptr)
    report_error(
        key,
        "must be an array of axis names, integers or products, such as [\"rows\", \"2*cols\"]");
  return items;
}

std::string Section::extent_or_number(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  if (found->is_number()) {
    const double value = found->value_or(0.0);
    if (std::isfinite(value) && value > 0) return number_text(value);
    report_error(key, "must be above 0");
    return "1";
  }
  return text(key);
}

std::map<std::string, std::int64_t> Section::integers(std::string_view key, std::int64_t low,
                                                      std::int64_t high) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  const auto* table = found->as_table();
  if (table == nullptr) {
    report_error(key, "must be a table of integers, such as { rows = 7, cols = 33 }");
    return {};
  }
  std::map<std::string, std::int64_t> values;
  for (const auto& [name_key, value] : *table) {
    const std::string name(name_key.str());
    const auto* number = value.as_integer();
    if (!is_identifier(name)) {
      report_error(key, "has the name " + shown(name) +
                            "; valid: lower-case letters, digits and underscores, a letter first");
    } else if (number == nullptr || number->get() < low || number->get() > high) {
      report_error(key, "has '" + name + "', which must be an integer from " + std::to_string(low) +
                            " to " + std::to_string(high));
    } else {
      values[name] = number->get();
    }
  }
  return values;
}

std::vector<const toml::table*> Section::tables(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  std::vector<const toml::table*> result;
  const auto* array = found->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    if (const auto* table = array->get(i)->as_table()) result.push_back(table);
  }
  if (array == nullptr || result.empty() || result.size() != array->size()) {
    report_error(key, "must be written as one or more [[" + std::string(key) + "]] tables");
  }
  return result;
}

}  // namespace assay::operators
