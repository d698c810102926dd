// Blocks of content, as tool results and prompt messages carry them: text, image, audio, an
// embedded resource, a link to one. Each is the JSON of the protocol, so that one list may mix
// them.
//
//   result.content = {image_content(png, "image/png"), link_content({.uri = "run://x/scorecard",
//   .name = "scorecard"})};
//
// Pure functions, thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

/// What a resource holds, whole: it goes out as `text` or, when binary, as a base64 `blob`.
struct ResourceContents {
  std::string uri, mime_type;
  std::string bytes;  // UTF-8 unless binary
  bool binary = false;
};

/// An image that clients may show beside a server, tool, resource or prompt. It is a PNG, never an
/// SVG: clients may refuse a format that can carry script.
struct Icon {
  std::string src;  // https: or data: URI
  std::string mime_type = {};
  std::vector<std::string> sizes = {};  // "48x48", ...
  std::string theme = {};               // "light", "dark", or empty for both
};

struct ResourceLink {
  std::string uri, name;
  std::string title = {}, description = {}, mime_type = {};
};

nlohmann::json text_content(std::string text);
/// `bytes` as they are in a file; encoded here.
nlohmann::json image_content(std::string_view bytes, const std::string& mime_type);
nlohmann::json audio_content(std::string_view bytes, const std::string& mime_type);
nlohmann::json embedded_content(const ResourceContents& resource);
nlohmann::json link_content(const ResourceLink& link);

/// Adds "icons" to `shown` when there are any.
void show_icons(nlohmann::json& shown, const std::vector<Icon>& icons);

/// The protocol's form of one entry of `contents`.
nlohmann::json to_json(const ResourceContents& contents);

}  // namespace assay::mcp
