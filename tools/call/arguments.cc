#include "tools/call/arguments.h"

#include "base/text.h"

namespace assay::tools {
namespace {

constexpr std::size_t kShownNameBytes = 60;

}  // namespace

Error unknown_name(const std::string& key, const std::string& name,
                   const std::vector<std::string>& valid) {
  return {ErrorCode::invalid_argument, "unknown " + key + " '" + cut_end(name, kShownNameBytes) +
                                           "'; valid: " + (valid.empty() ? "none" : join(valid))};
}

void ArgumentReader::read(const char* key, std::string& value) {
  const nlohmann::json* found = find(key);
  if (found == nullptr) return;
  if (found->is_string())
    value = found->get<std::string>();
  else
    refuse_type(key, "a string");
}

void ArgumentReader::read(const char* key, std::int64_t& value) {
  const nlohmann::json* found = find(key);
  if (found == nullptr) return;
  if (found->is_number_integer())
    value = found->get<std::int64_t>();
  else
    refuse_type(key, "an integer");
}

void ArgumentReader::read(const char* key, double& value) {
  const nlohmann::json* found = find(key);
  if (found == nullptr) return;
  if (found->is_number())
    value = found->get<double>();
  else
    refuse_type(key, "a number");
}

void ArgumentReader::read(const char* key, bool& value) {
  const nlohmann::json* found = find(key);
  if (found == nullptr) return;
  if (found->is_boolean())
    value = found->get<bool>();
  else
    refuse_type(key, "true or false");
}

void ArgumentReader::read(const char* key, std::vector<std::string>& value) {
  const nlohmann::json* found = find(key);
  if (found == nullptr) return;
  value.clear();
  if (!found->is_array()) return refuse_type(key, "a list of strings");
  for (const nlohmann::json& item : *found) {
    if (!item.is_string()) return refuse_type(key, "a list of strings");
    value.push_back(item.get<std::string>());
  }
}

void ArgumentReader::read(const char* key, Format& value) {
  const auto from = [](std::string_view name) -> std::optional<Format> {
    if (name == "concise") return Format::concise;
    if (name == "detailed") return Format::detailed;
    return std::nullopt;
  };
  read_name(key, value, from, {"concise", "detailed"});
}

void ArgumentReader::refuse(const Error& error) {
  if (!error_) error_ = error;
}

const nlohmann::json* ArgumentReader::find(const char* key) const {
  const auto found = arguments_.find(key);
  return found == arguments_.end() ? nullptr : &*found;
}

void ArgumentReader::refuse_type(const char* key, const char* expected) {
  refuse({ErrorCode::invalid_argument, std::string("`") + key + "` must be " + expected});
}

}  // namespace assay::tools
