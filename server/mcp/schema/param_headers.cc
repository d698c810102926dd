#include "server/mcp/schema/param_headers.h"

#include <cstdint>
#include <set>

#include "base/text.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr const char* kKeyword = "x-mcp-header";
constexpr const char* kPrefix = "Mcp-Param-";
constexpr std::string_view kTokenCharacters =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::size_t occurrences(const json& value) {
  std::size_t count = value.is_object() && value.contains(kKeyword) ? 1 : 0;
  if (!value.is_structured()) return count;
  for (const auto& [key, member] : value.items()) count += occurrences(member);
  return count;
}

Status collect(const json& schema, const std::vector<std::string>& path,
               std::vector<ParamHeader>& out) {
  if (!schema.is_object()) return {};
  if (const auto keyword = schema.find(kKeyword); keyword != schema.end()) {
    const json type = schema.value("type", json());
    if (!keyword->is_string() || keyword->get_ref<const std::string&>().empty() ||
        keyword->get_ref<const std::string&>().find_first_not_of(kTokenCharacters) !=
            std::string::npos) {
      return fail(ErrorCode::invalid_argument, std::string(kKeyword) +
                                                   " must be a header name: one or more of " +
                                                   std::string(kTokenCharacters));
    }
    if (path.empty() || (type != "string" && type != "integer" && type != "boolean"))
      return fail(
          ErrorCode::invalid_argument,
          std::string(kKeyword) + " belongs to a property of type string, integer or boolean");
    out.push_back({kPrefix + keyword->get<std::string>(), path});
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return {};
  for (const auto& [name, property] : properties->items()) {
    std::vector<std::string> below = path;
    below.push_back(name);
    if (auto status = collect(property, below, out); !status) return status;
  }
  return {};
}

const json* find(const json& arguments, const std::vector<std::string>& path) {
  const json* at = &arguments;
  for (const std::string& name : path) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
  }
  return at->is_null() ? nullptr : at;
}

bool same(const json& value, const std::string& text) {
  if (value.is_string()) return value.get_ref<const std::string&>() == text;
  if (value.is_boolean()) return text == (value.get<bool>() ? "true" : "false");
  if (!value.is_number()) return true;  // the schema refuses it
  const json number = json::parse(text, nullptr, false);
  return number.is_number() && number.get<double>() == value.get<double>();  // 42.0 is 42
}

}  // namespace

Result<std::vector<ParamHeader>> param_headers(const json& input_schema) {
  std::vector<ParamHeader> out;
  if (auto status = collect(input_schema, {}, out); !status) return fail(status.error());
  if (occurrences(input_schema) != out.size())
    return fail(ErrorCode::invalid_argument,
                std::string(kKeyword) + " is reached by something else than 'properties'");
  std::set<std::string> names;
  for (const ParamHeader& entry : out) {
    if (!names.insert(lower_case(entry.header)).second)
      return fail(ErrorCode::invalid_argument,
                  std::string(kKeyword) + ": two properties have the header " + entry.header);
  }
  return out;
}

std::optional<std::string> param_mismatch(const std::vector<ParamHeader>& headers,
                                          const json& arguments, const HeaderLookup& header) {
  for (const ParamHeader& entry : headers) {
    const json* value = find(arguments, entry.path);
    const auto sent = header(entry.header.c_str());
    const std::string begin = "Header mismatch: the " + entry.header + " header ";
    if (value == nullptr && !sent) continue;
    if (value == nullptr) return begin + "is there, but its argument is not";
    if (!sent) return begin + "is required and missing";
    const auto decoded = decode_header_value(*sent);
    if (!decoded) return begin + "is not valid base64";
    if (!same(*value, *decoded))
      return begin + "value '" + *decoded + "' does not match the argument";
  }
  return std::nullopt;
}

}  // namespace assay::mcp
