#include "sandbox/wire/header_reader.h"

#include <utility>

#include "base/text.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

// The number of characters that an error quotes from an unexpected message type.
constexpr std::size_t kQuotedTypeChars = 64;

std::optional<std::int64_t> to_integer(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(kHighestInteger))
    return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<double> to_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::string range(std::int64_t low, std::int64_t high) {
  return "a number from " + std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace

HeaderReader::HeaderReader(const json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object.is_object()) reject("is not an object");
}

std::string HeaderReader::text(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) return reject_field(name, "is not a string"), std::string();
  if (value->get_ref<const std::string&>().size() > kMaxTextBytes)
    return reject_field(name, "is too long"), std::string();
  return value->get<std::string>();
}

std::string HeaderReader::optional_text(const char* name) {
  return has(name) ? text(name) : std::string();
}

std::string HeaderReader::line(const char* name) {
  std::string value = text(name);
  if (value.size() > kMaxNameBytes) return reject_field(name, "is too long"), std::string();
  if (!is_one_line(value))
    return reject_field(name, "has a control character or a line break"), std::string();
  return value;
}

std::string HeaderReader::optional_line(const char* name) {
  return has(name) ? line(name) : std::string();
}

std::int64_t HeaderReader::integer(const char* name, std::int64_t low, std::int64_t high) {
  const json* value = find(name);
  if (value == nullptr) return low;
  const std::optional<std::int64_t> number = to_integer(*value);
  if (!number || *number < low || *number > high)
    return reject_field(name, "is not " + range(low, high)), low;
  return *number;
}

std::uint64_t HeaderReader::bytes(const char* name) {
  return static_cast<std::uint64_t>(integer(name, 0, kHighestInteger));
}

std::optional<std::int64_t> HeaderReader::optional_integer(const char* name) {
  if (!has(name)) return std::nullopt;
  return integer(name, kLowestInteger, kHighestInteger);
}

bool HeaderReader::flag(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return reject_field(name, "is neither true nor false"), false;
  return value->get<bool>();
}

std::optional<bool> HeaderReader::optional_flag(const char* name) {
  if (!has(name)) return std::nullopt;
  return flag(name);
}

double HeaderReader::number(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return 0;
  const std::optional<double> found = to_number(*value);
  if (!found) reject_field(name, "is not a number");
  return found.value_or(0);
}

std::optional<double> HeaderReader::optional_number(const char* name) {
  if (!has(name)) return std::nullopt;
  return number(name);
}

std::vector<std::int64_t> HeaderReader::integers(const char* name, std::size_t most,
                                                 std::int64_t low) {
  std::vector<std::int64_t> out;
  for (const json& entry : list(name, most)) {
    const std::optional<std::int64_t> number = to_integer(entry);
    if (!number || *number < low)
      return reject_field(name, "has an entry that is not " + range(low, kHighestInteger)),
             std::vector<std::int64_t>();
    out.push_back(*number);
  }
  return out;
}

std::vector<double> HeaderReader::numbers(const char* name, std::size_t most) {
  std::vector<double> out;
  for (const json& entry : list(name, most)) {
    if (!entry.is_number())
      return reject_field(name, "has an entry that is not a number"), std::vector<double>();
    out.push_back(entry.get<double>());
  }
  return out;
}

std::vector<std::string> HeaderReader::texts(const char* name, std::size_t most) {
  std::vector<std::string> out;
  for (const json& entry : list(name, most)) {
    if (!entry.is_string() || entry.get_ref<const std::string&>().size() > kMaxTextBytes) {
      return reject_field(name, "has an entry that is not a string or is too long"),
             std::vector<std::string>();
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

std::vector<json> HeaderReader::list(const char* name, std::size_t most) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array()) return reject_field(name, "is not a list"), std::vector<json>();
  if (value->size() > most)
    return reject_field(name, "has more than " + std::to_string(most) + " entries"),
           std::vector<json>();
  return value->get<std::vector<json>>();
}

const json* HeaderReader::object(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) return reject_field(name, "is not an object"), nullptr;
  return value;
}

const json* HeaderReader::optional_object(const char* name) {
  return has(name) ? object(name) : nullptr;
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
  if (found == object_.end()) return reject_field(name, "is missing"), nullptr;
  return &*found;
}

void HeaderReader::reject_field(const char* name, const std::string& what) {
  reject("`" + std::string(name) + "` " + what);
}

Status expect_type(const Frame& frame, const char* type) {
  if (frame.type() == type) return {};
  return fail(ErrorCode::corrupt, "got a message `" + frame.type().substr(0, kQuotedTypeChars) +
                                      "` where `" + type + "` was due");
}

}  // namespace assay::sandbox
