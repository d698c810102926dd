#include "sandbox/pool/header_reader.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace assay::sandbox {

using nlohmann::json;

HeaderReader::HeaderReader(const json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) reject("is no object");
}

std::string HeaderReader::text(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) return reject(std::string("`") + name + "` is no string"), std::string();
  if (value->get_ref<const std::string&>().size() > kMaxTextBytes)
    return reject(std::string("`") + name + "` is too long"), std::string();
  return value->get<std::string>();
}

std::string HeaderReader::optional_text(const char* name) {
  return has(name) ? text(name) : std::string();
}

std::int64_t HeaderReader::integer(const char* name, std::int64_t low, std::int64_t high) {
  const json* value = find(name);
  if (value == nullptr) return low;
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() &&
                      value->get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!fits || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
    return reject(std::string("`") + name + "` is no number from " + std::to_string(low) + " to " +
                  std::to_string(high)),
           low;
  }
  return value->get<std::int64_t>();
}

std::optional<std::int64_t> HeaderReader::optional_integer(const char* name) {
  if (!has(name)) return std::nullopt;
  return integer(name, std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max());
}

bool HeaderReader::flag(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return false;
  if (!value->is_boolean())
    return reject(std::string("`") + name + "` is neither true nor false"), false;
  return value->get<bool>();
}

std::optional<bool> HeaderReader::optional_flag(const char* name) {
  if (!has(name)) return std::nullopt;
  return flag(name);
}

std::optional<double> HeaderReader::to_number(const json& value) const {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

double HeaderReader::number(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return 0;
  const std::optional<double> found = to_number(*value);
  if (!found) reject(std::string("`") + name + "` is no number");
  return found.value_or(0);
}

std::optional<double> HeaderReader::optional_number(const char* name) {
  if (!has(name)) return std::nullopt;
  return number(name);
}

std::vector<std::int64_t> HeaderReader::integers(const char* name, std::size_t most) {
  std::vector<std::int64_t> out;
  for (const json& entry : list(name, most)) {
    if (!entry.is_number_integer())
      return reject(std::string("`") + name + "` has an entry that is no integer"),
             std::vector<std::int64_t>();
    out.push_back(entry.get<std::int64_t>());
  }
  return out;
}

std::vector<std::string> HeaderReader::texts(const char* name, std::size_t most) {
  std::vector<std::string> out;
  for (const json& entry : list(name, most)) {
    if (!entry.is_string() || entry.get_ref<const std::string&>().size() > kMaxTextBytes) {
      return reject(std::string("`") + name +
                    "` has an entry that is no string, or a too long one"),
             std::vector<std::string>();
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

std::vector<json> HeaderReader::list(const char* name, std::size_t most) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array())
    return reject(std::string("`") + name + "` is no list"), std::vector<json>();
  if (value->size() > most)
    return reject(std::string("`") + name + "` has more than " + std::to_string(most) + " entries"),
           std::vector<json>();
  return value->get<std::vector<json>>();
}

const json* HeaderReader::optional_object(const char* name) {
  if (!has(name)) return nullptr;
  const json* value = find(name);
  if (!value->is_object()) return reject(std::string("`") + name + "` is no object"), nullptr;
  return value;
}

bool HeaderReader::has(const char* name) const {
  if (!object_.is_object()) return false;
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

void HeaderReader::reject(const std::string& what) {
  if (error_.empty()) error_ = where_ + ": " + what;
}

void HeaderReader::merge(const HeaderReader& other) {
  if (error_.empty()) error_ = other.error_;
}

Status HeaderReader::status() const {
  if (!error_.empty()) return fail(ErrorCode::corrupt, error_);
  return {};
}

const json* HeaderReader::find(const char* name) {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  if (found == object_.end()) return reject(std::string("`") + name + "` is missing"), nullptr;
  return &*found;
}

}  // namespace assay::sandbox
