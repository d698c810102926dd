#include "server/site/data_sink.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/json.h"

namespace assay::site {
namespace {

/// Returns the text as a JSON string that can stand inside a script element.
std::string string_in_script(std::string_view text) {
  return safe_in_script(nlohmann::json(std::string(text))
                            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string safe_in_script(std::string_view json) {
  // The UTF-8 of U+2028 and U+2029, which end a line in older versions of JavaScript.
  constexpr std::string_view kLineSeparator = "\xe2\x80\xa8", kParagraphSeparator = "\xe2\x80\xa9";
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char character = json[i];
    if (character == '<') {
      out += "\\u003c";
    } else if (character == '>') {
      out += "\\u003e";
    } else if (character == '&') {
      out += "\\u0026";
    } else if (json.substr(i, 3) == kLineSeparator || json.substr(i, 3) == kParagraphSeparator) {
      out += json.substr(i, 3) == kLineSeparator ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += character;
    }
  }
  return out;
}

std::string data_script(std::string_view name, std::string_view json) {
  return "assayData(" + string_in_script(name) + "," + string_in_script(json) + ");\n";
}

Status FolderSink::put(const std::string& name, const std::string& json) {
  const std::filesystem::path path = folder_ / "data" / (name + ".js");
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << data_script(name, json) << std::flush;
  if (file) return {};
  return fail(ErrorCode::io, "cannot write " + path.string() + ": " + std::strerror(errno));
}

Status PageSink::put(const std::string& name, const std::string& json) {
  parts_.emplace_back(name, json);
  return {};
}

std::string PageSink::data() const {
  std::string out = "{";
  for (const auto& [name, json] : parts_)
    out += (out.size() == 1 ? "" : ",") + string_in_script(name) + ":" + string_in_script(json);
  return out + "}";
}

}  // namespace assay::site
