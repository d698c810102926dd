// Explains in sentences why a value does not conform to a schema.

#include <algorithm>

#include "base/text.h"
#include "server/mcp/schema/schema.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxShownBytes = 80;

std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kMaxShownBytes) {
    std::size_t cut = kMaxShownBytes;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
      --cut;  // do not cut inside a UTF-8 character
    text = text.substr(0, cut) + "...";
  }
  return text;
}

std::string listed(const json& values) {
  return join(values, ", ", [](const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  });
}

std::string keys(const json& object) {
  const auto& entries = object.get_ref<const json::object_t&>();
  return entries.empty() ? "none" : join(entries, ", ", &json::object_t::value_type::first);
}

/// Returns the number of Unicode code points, because JSON Schema defines the length of a string as
/// this number.
std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0U) != 0x80U; }));
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

class Explainer {
 public:
  explicit Explainer(const json& root) : root_(root) {}

  void walk(const json& schema, const json& value, const std::string& path) {
    if (!schema.is_object() || problems_.size() >= kMaxProblems) return;
    if (const auto ref = schema.find("$ref"); ref != schema.end()) {
      walk(root_.at(json::json_pointer(ref->get<std::string>().substr(1))), value, path);
      return;
    }
    if (!check_type(schema, value, path)) return;
    check_values(schema, value, path);
    if (value.is_number()) check_bounds(schema, value, path);
    if (value.is_string())
      check_size(schema, characters(value.get_ref<const std::string&>()), "Length", "characters",
                 path);
    if (value.is_array()) check_items(schema, value, path);
    if (value.is_object()) check_properties(schema, value, path);
  }

  std::vector<std::string> take() { return std::move(problems_); }

 private:
  void add(const std::string& path, const std::string& text) {
    if (problems_.size() < kMaxProblems)
      problems_.push_back((path.empty() ? "the arguments object" : "'" + path + "'") + " " + text);
  }

  bool check_type(const json& schema, const json& value, const std::string& path) {
    const auto type = schema.find("type");
    if (type == schema.end()) return true;
    const json types = type->is_array() ? *type : json::array({*type});
    for (const json& one : types) {
      if (has_type(value, one.get<std::string>())) return true;
    }
    const std::string type_name = value.is_null() ? "" : std::string(value.type_name()) + " ";
    add(path, "must be of type " + listed(types) + ", not " + type_name + shown(value));
    return false;
  }

  void check_values(const json& schema, const json& value, const std::string& path) {
    if (const auto values = schema.find("enum");
        values != schema.end() &&
        std::find(values->begin(), values->end(), value) == values->end()) {
      add(path, "is " + shown(value) + "; valid values: " + listed(*values));
    }
    if (const auto only = schema.find("const"); only != schema.end() && *only != value)
      add(path, "is " + shown(value) + "; the only valid value is " + shown(*only));
  }

  void check_bounds(const json& schema, const json& value, const std::string& path) {
    const double number = value.get<double>();
    const auto bound = [&](const char* keyword, auto violated, const char* words) {
      const auto found = schema.find(keyword);
      if (found != schema.end() && violated(number, found->get<double>()))
        add(path, "is " + shown(value) + "; it must be " + words + " " + found->dump());
    };
    bound(
        "minimum", [](double a, double b) { return a < b; }, "at least");
    bound(
        "maximum", [](double a, double b) { return a > b; }, "at most");
    bound(
        "exclusiveMinimum", [](double a, double b) { return a <= b; }, "greater than");
    bound(
        "exclusiveMaximum", [](double a, double b) { return a >= b; }, "less than");
  }

  void check_size(const json& schema, std::size_t size, const std::string& suffix,
                  const std::string& unit, const std::string& path) {
    if (const auto least = schema.find("min" + suffix);
        least != schema.end() && size < least->get<std::size_t>()) {
      add(path, "has " + std::to_string(size) + " " + unit + "; at least " + least->dump() +
                    " are needed");
    }
    if (const auto most = schema.find("max" + suffix);
        most != schema.end() && size > most->get<std::size_t>()) {
      add(path, "has " + std::to_string(size) + " " + unit + "; at most " + most->dump() +
                    " are allowed");
    }
  }

  void check_items(const json& schema, const json& value, const std::string& path) {
    check_size(schema, value.size(), "Items", "items", path);
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      walk(*items, value[i], path + "[" + std::to_string(i) + "]");
  }

  void check_properties(const json& schema, const json& value, const std::string& path) {
    const json properties = schema.value("properties", json::object());
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name.get<std::string>()))
        missing(path, name.get<std::string>(), properties);
    }
    const bool closed = schema.value("additionalProperties", json(true)) == json(false);
    for (const auto& [key, member] : value.items()) {
      const std::string member_path = path.empty() ? key : path + "." + key;
      if (const auto known = properties.find(key); known != properties.end()) {
        walk(*known, member, member_path);
      } else if (closed && problems_.size() < kMaxProblems) {
        problems_.push_back("unknown property " + shown(member_path) +
                            "; valid: " + keys(properties));
      }
    }
  }

  void missing(const std::string& path, const std::string& name, const json& properties) {
    if (problems_.size() >= kMaxProblems) return;
    std::string text =
        "missing required property '" + (path.empty() ? name : path + "." + name) + "'";
    if (const auto known = properties.find(name); known != properties.end() && known->is_object()) {
      if (const auto values = known->find("enum"); values != known->end())
        text += "; valid values: " + listed(*values);
      else if (const auto type = known->find("type"); type != known->end())
        text += " (" + (type->is_string() ? type->get<std::string>() : listed(*type)) + ")";
    }
    problems_.push_back(text);
  }

  const json& root_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> explain(const json& schema, const json& instance) {
  Explainer explainer(schema);
  explainer.walk(schema, instance, "");
  return explainer.take();
}

}  // namespace assay::mcp
