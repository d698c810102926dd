// An image that clients may show beside a server, tool, resource or prompt. PNG, never SVG: clients
// may refuse what can carry script.
//
//   info.icons = {{.src = "data:image/png;base64,...", .mime_type = "image/png", .sizes =
//   {"48x48"}}};
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::mcp {

struct Icon {
  std::string src;  // https: or data: URI
  std::string mime_type = {};
  std::vector<std::string> sizes = {};  // "48x48", ...
  std::string theme = {};               // "light", "dark", or empty for both
};

/// Adds "icons" to `shown` when there are any.
inline void show_icons(nlohmann::json& shown, const std::vector<Icon>& icons) {
  for (const Icon& icon : icons) {
    nlohmann::json entry = {{"src", icon.src}};
    if (!icon.mime_type.empty()) entry["mimeType"] = icon.mime_type;
    if (!icon.sizes.empty()) entry["sizes"] = icon.sizes;
    if (!icon.theme.empty()) entry["theme"] = icon.theme;
    shown["icons"].push_back(std::move(entry));
  }
}

}  // namespace assay::mcp
