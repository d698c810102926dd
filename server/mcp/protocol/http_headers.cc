#include "server/mcp/protocol/http_headers.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "base/base64.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

constexpr std::string_view kBase64Prefix = "=?base64?";
constexpr std::string_view kBase64Suffix = "?=";

/// `authority` has the form "host", "host:port", "[v6]" or "[v6]:port". Returns the host in lower
/// case and without brackets. Returns "" if the text has any other form.
std::string host_of(std::string_view authority) {
  const auto port_ok = [](std::string_view rest) {
    return rest.empty() || (rest.size() > 1 && rest.size() <= 6 && rest[0] == ':' &&
                            rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
  };
  if (!authority.empty() && authority[0] == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos || !port_ok(authority.substr(close + 1))) return "";
    return lower_case(authority.substr(1, close - 1));
  }
  const std::size_t colon = authority.find(':');
  if (colon != std::string_view::npos && !port_ok(authority.substr(colon))) return "";
  return lower_case(authority.substr(0, colon));
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

bool is_ip_literal(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? lower_case(name.data()) : "";
}

bool plain(std::string_view value) {
  if (value.empty() || value.front() == ' ' || value.back() == ' ') return false;
  if (!std::all_of(value.begin(), value.end(),
                   [](unsigned char c) { return c >= 0x20 && c <= 0x7E; }))
    return false;
  return value.substr(0, kBase64Prefix.size()) != kBase64Prefix;
}

std::string mismatch(const char* name, const std::string& header, const std::string& body) {
  return std::string("Header mismatch: ") + name + " header value '" + header +
         "' does not match body value '" + body + "'";
}

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
  if (!value.is_number()) return true;  // the check against the schema refuses the value
  const json number = json::parse(text, nullptr, false);
  return number.is_number() && number.get<double>() == value.get<double>();  // "42.0" matches 42
}

/// Returns the version that the message names in its _meta, or null if it names none.
const std::string* version_of(const Message& message) {
  const auto meta = message.params.find("_meta");
  if (meta == message.params.end() || !meta->is_object()) return nullptr;
  const auto version = meta->find(kMetaVersion);
  return version != meta->end() && version->is_string() ? &version->get_ref<const std::string&>()
                                                        : nullptr;
}

}  // namespace

bool host_allowed(std::string_view host_header, std::string_view bound_host) {
  const std::string host = host_of(host_header);
  const std::string bound = lower_case(bound_host);
  if (host.empty()) return false;
  if (is_loopback(host)) return true;
  if (is_loopback(bound)) return false;
  return host == bound || is_ip_literal(host) || host == machine_name();
}

bool host_is(std::string_view host_header, std::string_view name) {
  const std::string host = host_of(host_header);
  return !host.empty() && host == lower_case(name);
}

bool origin_allowed(std::string_view origin_header, std::string_view bound_host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin_header.substr(0, scheme.size()) == scheme)
      return host_allowed(origin_header.substr(scheme.size()), bound_host);
  }
  return false;
}

std::optional<std::string> decode_header_value(std::string_view value) {
  if (value.substr(0, kBase64Prefix.size()) != kBase64Prefix) return std::string(value);
  if (value.size() < kBase64Prefix.size() + kBase64Suffix.size() ||
      value.substr(value.size() - kBase64Suffix.size()) != kBase64Suffix)
    return std::string(value);
  const std::string_view text = value.substr(
      kBase64Prefix.size(), value.size() - kBase64Prefix.size() - kBase64Suffix.size());
  return base64_decode(text);
}

std::string encode_header_value(std::string_view value) {
  if (plain(value)) return std::string(value);
  return std::string(kBase64Prefix) + base64_encode(value) + std::string(kBase64Suffix);
}

std::optional<std::string> mirrored_name(std::string_view method, const nlohmann::json& params) {
  const char* key = nullptr;
  if (method == "tools/call" || method == "prompts/get") key = "name";
  if (method == "resources/read") key = "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") key = "taskId";
  if (key == nullptr || !params.is_object()) return std::nullopt;
  const auto value = params.find(key);
  return value != params.end() && value->is_string() ? std::optional(value->get<std::string>())
                                                     : std::nullopt;
}

std::optional<std::string> header_mismatch(const Message& message, const HeaderLookup& header) {
  const auto missing = [](const char* name) {
    return std::string("Header mismatch: the ") + name + " header is required and missing";
  };
  const auto version = header(kHeaderVersion);
  if (!version) return missing(kHeaderVersion);
  const std::string* in_body = version_of(message);
  if (in_body != nullptr && *version != *in_body)
    return mismatch(kHeaderVersion, *version, *in_body);
  if (message.kind != Message::Kind::request) return std::nullopt;
  const auto method = header(kHeaderMethod);
  if (!method) return missing(kHeaderMethod);
  if (*method != message.method) return mismatch(kHeaderMethod, *method, message.method);
  const auto name = mirrored_name(message.method, message.params);
  if (!name) return std::nullopt;
  const auto sent = header(kHeaderName);
  if (!sent) return missing(kHeaderName);
  const auto decoded = decode_header_value(*sent);
  if (!decoded) return std::string("Header mismatch: ") + kHeaderName + " is not valid base64";
  if (*decoded != *name) return mismatch(kHeaderName, *decoded, *name);
  return std::nullopt;
}

bool accepts(std::string_view accept, std::string_view media_type) {
  const std::string all = lower_case(accept);
  std::size_t start = 0;
  while (start <= all.size()) {
    const std::size_t end = std::min(all.find(',', start), all.size());
    std::string_view item = std::string_view(all).substr(start, end - start);
    item = item.substr(0, item.find(';'));
    const std::size_t first = item.find_first_not_of(" \t");
    if (first != std::string_view::npos)
      item = item.substr(first, item.find_last_not_of(" \t") - first + 1);
    if (item == media_type) return true;
    start = end + 1;
  }
  return false;
}

Result<std::vector<ParamHeader>> param_headers(const json& input_schema) {
  std::vector<ParamHeader> out;
  if (auto status = collect(input_schema, {}, out); !status) return fail(status.error());
  if (occurrences(input_schema) != out.size())
    return fail(ErrorCode::invalid_argument,
                std::string(kKeyword) + " may stand only below 'properties'");
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
    if (value == nullptr) return begin + "is present, but its argument is missing";
    if (!sent) return begin + "is required and missing";
    const auto decoded = decode_header_value(*sent);
    if (!decoded) return begin + "is not valid base64";
    if (!same(*value, *decoded))
      return begin + "value '" + *decoded + "' does not match the argument";
  }
  return std::nullopt;
}

}  // namespace assay::mcp
