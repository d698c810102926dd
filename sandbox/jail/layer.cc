#include "sandbox/jail/layer.h"

#include <cstdio>

#include "sandbox/jail/mutation.h"

namespace assay::sandbox {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

bool LayerList::apply(const std::string& name, const std::function<Status()>& mechanism) {
  if (Status wanted = check_not_left_out(name); !wanted) return add(name, wanted);
  return add(name, mechanism());
}

bool LayerList::add(const std::string& name, const Status& outcome) {
  layers_.push_back({name, outcome.has_value(), outcome ? std::string() : outcome.error().message});
  return outcome.has_value();
}

Status LayerList::status() const {
  if (!strict_) return {};
  for (const LayerReport& layer : layers_) {
    if (!layer.active)
      return fail(ErrorCode::unavailable,
                  "strict isolation needs the layer " + layer.name + ": " + layer.detail);
  }
  return {};
}

std::string layers_json(const std::vector<LayerReport>& layers) {
  std::string out = "[";
  for (const LayerReport& layer : layers) {
    if (out.size() > 1) out += ',';
    out += "{\"name\":" + quoted(layer.name) + ",\"active\":" + (layer.active ? "true" : "false") +
           ",\"detail\":" + quoted(layer.detail) + "}";
  }
  return out + "]";
}

}  // namespace assay::sandbox
