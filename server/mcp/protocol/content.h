// Creates the content blocks of tool results and prompt messages: text, image, audio, an embedded
// resource, or a link to a resource. Each function returns the protocol's JSON, so that one list
// can contain blocks of different kinds.
//
//   const std::vector<nlohmann::json> blocks = {
//       text_content("scores"), link_content({.uri = "run://x/scorecard", .name = "scorecard"})};
//
// Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::mcp {

/// The whole contents of a resource. The protocol sends them as `text` or, when they are binary, as
/// a base64 `blob`.
struct ResourceContents {
  std::string uri, mime_type;
  std::string bytes;  // UTF-8 text unless `binary` is true
  bool binary = false;
};

/// An image that a client may show next to the name of a server, tool, resource or prompt. A PNG is
/// the best format: a client may refuse an SVG, because an SVG can contain scripts.
struct Icon {
  std::string src;  // an https: or data: URI
  std::string mime_type = {};
  std::vector<std::string> sizes = {};  // "48x48", ...
  std::string theme = {};               // "light", "dark", or empty for both themes
};

struct ResourceLink {
  std::string uri, name;
  std::string title = {}, description = {}, mime_type = {};
};

nlohmann::json text_content(std::string text);
/// These functions return an image block and an audio block. `bytes` are the raw contents of a
/// file, which the functions encode in base64.
nlohmann::json image_content(std::string_view bytes, const std::string& mime_type);
nlohmann::json audio_content(std::string_view bytes, const std::string& mime_type);
nlohmann::json embedded_content(const ResourceContents& resource);
nlohmann::json link_content(const ResourceLink& link);

/// Adds the member "icons" to `shown`, unless `icons` is empty.
void show_icons(nlohmann::json& shown, const std::vector<Icon>& icons);

/// Returns the protocol's form of one element of ReadResourceResult's `contents`.
nlohmann::json to_json(const ResourceContents& contents);

}  // namespace assay::mcp
