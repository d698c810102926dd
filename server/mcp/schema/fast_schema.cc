#include "server/mcp/schema/fast_schema.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kTypeNames = {"object", "array",   "string", "integer",
                                                        "number", "boolean", "null"};
constexpr std::size_t kMaxCharacterBytes = 4;  // of a character in UTF-8

unsigned bit_of(std::string_view type) {
  const auto found = std::find(kTypeNames.begin(), kTypeNames.end(), type);
  return 1U << static_cast<unsigned>(found - kTypeNames.begin());
}

/// Returns the bits of the types that the value has. An integer is also a number.
unsigned types_of(const json& value) {
  static const unsigned kObject = bit_of("object"), kArray = bit_of("array"),
                        kString = bit_of("string"), kBoolean = bit_of("boolean"),
                        kNull = bit_of("null"), kNumber = bit_of("number"),
                        kInteger = bit_of("integer") | kNumber;
  switch (value.type()) {
    case json::value_t::object: return kObject;
    case json::value_t::array: return kArray;
    case json::value_t::string: return kString;
    case json::value_t::boolean: return kBoolean;
    case json::value_t::null: return kNull;
    case json::value_t::number_float: return kNumber;
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: return kInteger;
    default: return 0;
  }
}

bool is_annotation(std::string_view keyword) {
  constexpr std::array<std::string_view, 11> kAnnotations = {
      "title",     "description", "default", "examples", "deprecated",  "readOnly",
      "writeOnly", "$comment",    "$schema", "$defs",    "x-mcp-header"};
  return std::find(kAnnotations.begin(), kAnnotations.end(), keyword) != kAnnotations.end();
}

template <class Number>
std::optional<Number> number_of(const json& value, bool& known) {
  known = known && value.is_number() && value.get<double>() >= 0;
  return known ? std::optional(value.get<Number>()) : std::nullopt;
}

}  // namespace

FastSchema::FastSchema(const json& schema) {
  if (!schema.is_object()) {
    known_ = schema == json(true);
    return;
  }
  for (const auto& [keyword, value] : schema.items()) take(keyword, value);
}

void FastSchema::take(const std::string& keyword, const json& value) {
  if (is_annotation(keyword)) return;
  if (keyword == "type") {
    const json types = value.is_array() ? value : json::array({value});
    for (const json& type : types) types_ |= bit_of(type.get_ref<const std::string&>());
  } else if (keyword == "enum" && value.is_array()) {
    values_.emplace(value.begin(), value.end());
  } else if (keyword == "minimum" && value.is_number()) {
    least_ = value.get<double>();
  } else if (keyword == "maximum" && value.is_number()) {
    most_ = value.get<double>();
  } else if (keyword == "minLength") {
    least_length_ = number_of<std::size_t>(value, known_);
  } else if (keyword == "maxLength") {
    most_length_ = number_of<std::size_t>(value, known_);
  } else if (keyword == "minItems") {
    least_items_ = number_of<std::size_t>(value, known_);
  } else if (keyword == "maxItems") {
    most_items_ = number_of<std::size_t>(value, known_);
  } else if (keyword == "items" && !value.is_array()) {
    items_ = std::make_unique<FastSchema>(value);
  } else if (keyword == "properties" && value.is_object()) {
    for (const auto& [name, property] : value.items())
      properties_.emplace(name, FastSchema(property));
  } else if (keyword == "required" && value.is_array()) {
    for (const json& name : value) {
      known_ = known_ && name.is_string();
      if (known_) required_.push_back(name.get<std::string>());
    }
  } else if (keyword == "additionalProperties" && value.is_boolean()) {
    closed_ = !value.get<bool>();
  } else {
    known_ = false;
  }
}

bool FastSchema::accepts(const json& value) const {
  if (!known_ || (types_ != 0 && (types_ & types_of(value)) == 0)) return false;
  if (values_ && std::none_of(values_->begin(), values_->end(), [&](const json& one) {
        return one.type() == value.type() && one == value;
      }))
    return false;
  if (value.is_string()) return accepts_text(value.get_ref<const std::string&>());
  if (value.is_number()) return accepts_number(value);
  if (value.is_array()) return accepts_items(value);
  return !value.is_object() || accepts_members(value);
}

bool FastSchema::accepts_text(const std::string& text) const {
  // The length of a string is its number of characters. It lies between a quarter of the bytes and
  // all bytes. Nothing is accepted that needs the exact number.
  const std::size_t least = (text.size() + kMaxCharacterBytes - 1) / kMaxCharacterBytes;
  return (!least_length_ || least >= *least_length_) &&
         (!most_length_ || text.size() <= *most_length_);
}

bool FastSchema::accepts_number(const json& value) const {
  const auto number = value.get<double>();
  return (!least_ || number >= *least_) && (!most_ || number <= *most_);
}

bool FastSchema::accepts_items(const json& value) const {
  if (least_items_ && value.size() < *least_items_) return false;
  if (most_items_ && value.size() > *most_items_) return false;
  return items_ == nullptr || std::all_of(value.begin(), value.end(), [this](const json& item) {
           return items_->accepts(item);
         });
}

bool FastSchema::accepts_members(const json& value) const {
  const auto& members = value.get_ref<const json::object_t&>();
  const auto missing = [&](const std::string& name) { return members.count(name) == 0; };
  if (std::any_of(required_.begin(), required_.end(), missing)) return false;
  return std::all_of(members.begin(), members.end(), [this](const auto& member) {
    const auto property = properties_.find(member.first);
    return property == properties_.end() ? !closed_ : property->second.accepts(member.second);
  });
}

}  // namespace assay::mcp
