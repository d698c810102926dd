#include "server/mcp/protocol/content.h"

#include "base/base64.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

json media(const char* type, std::string_view bytes, const std::string& mime_type) {
  return {{"type", type}, {"data", base64_encode(bytes)}, {"mimeType", mime_type}};
}

}  // namespace

json text_content(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

json image_content(std::string_view bytes, const std::string& mime_type) {
  return media("image", bytes, mime_type);
}

json audio_content(std::string_view bytes, const std::string& mime_type) {
  return media("audio", bytes, mime_type);
}

json embedded_content(const ResourceContents& resource) {
  return {{"type", "resource"}, {"resource", to_json(resource)}};
}

json link_content(const ResourceLink& link) {
  json out = {{"type", "resource_link"}, {"uri", link.uri}, {"name", link.name}};
  if (!link.title.empty()) out["title"] = link.title;
  if (!link.description.empty()) out["description"] = link.description;
  if (!link.mime_type.empty()) out["mimeType"] = link.mime_type;
  return out;
}

json to_json(const ResourceContents& contents) {
  json out = {{"uri", contents.uri}};
  if (!contents.mime_type.empty()) out["mimeType"] = contents.mime_type;
  if (contents.binary)
    out["blob"] = base64_encode(contents.bytes);
  else
    out["text"] = contents.bytes;
  return out;
}

void show_icons(nlohmann::json& shown, const std::vector<Icon>& icons) {
  for (const Icon& icon : icons) {
    nlohmann::json entry = {{"src", icon.src}};
    if (!icon.mime_type.empty()) entry["mimeType"] = icon.mime_type;
    if (!icon.sizes.empty()) entry["sizes"] = icon.sizes;
    if (!icon.theme.empty()) entry["theme"] = icon.theme;
    shown["icons"].push_back(std::move(entry));
  }
}

}  // namespace assay::mcp
