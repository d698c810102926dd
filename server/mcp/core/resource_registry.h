// The registered resources and templates: lists them, finds what a URI means, reads it.
// Registration first, then calls from many threads.
//
//   shelf.add(resource);
//   shelf.read(params, context)        ->  what it holds, or needs to know
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/resource.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/uri_template.h"

namespace assay::mcp {

/// A ReadResourceResult, with its cache hint where the era has one.
nlohmann::json to_json(const ReadResult& result, bool with_cache_hint);

class ResourceRegistry {
 public:
  Status add(Resource resource);
  Status add(ResourceTemplate resource_template);

  bool empty() const { return resources_.empty() && templates_.empty(); }
  const nlohmann::json& resources() const { return resource_list_; }
  const nlohmann::json& templates() const { return template_list_; }

  /// An exact URI wins over templates, an earlier template over a later one. Nothing there:
  /// kResourceNotFound, with data.uri.
  Rpc<ReadResult> read(const nlohmann::json& params, RequestContext& context) const;
  /// True when `uri` names a resource or fits a template: what may be subscribed to.
  bool knows(const std::string& uri) const;

  /// The completer of a template's variable; null when it has none. An error when there is no such
  /// template or variable.
  Rpc<Completer> completer(const std::string& uri_template, const std::string& variable) const;
  bool completes() const;

 private:
  struct TemplateEntry {
    ResourceTemplate resource_template;
    UriTemplate uri;
  };
  std::vector<std::unique_ptr<Resource>> resources_;
  std::vector<std::unique_ptr<TemplateEntry>> templates_;
  nlohmann::json resource_list_ = nlohmann::json::array();
  nlohmann::json template_list_ = nlohmann::json::array();
};

}  // namespace assay::mcp
