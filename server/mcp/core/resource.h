// Resources: documents that a client may list and read by URI, and templates of URIs for those that
// are too many to list.
//
//   server.add_resource({.uri = "guide://triton", .name = "triton", .mime_type = "text/markdown",
//                        .read = [](RequestContext&) { return one_text("guide://triton",
//                        "text/markdown", "# ..."); }});
//   server.add_template({.uri_template = "operator://{name}/spec", .name = "spec", .variables =
//   {{"name", complete_from(names)}},
//                        .read = [](const std::string& uri, const Variables& variables,
//                        RequestContext&) -> Result<ReadResult> {...}});
//
// `read` runs on many threads at once. Its Error: `not_found` says that there is no such resource,
// `invalid_argument` and `permission_denied` that it may not be read so; the message reaches the
// client.
//
// The registered resources and templates: lists them, finds what a URI means, reads it.
// Registration first, then calls from many threads.
//
//   shelf.add(resource);
//   shelf.read(params, context)        ->  what it holds, or needs to know
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/completion.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/uri_template.h"

namespace assay::mcp {

struct ReadResult {
  std::vector<ResourceContents> contents;  // at least one
  std::int64_t ttl_ms = 0;                 // how long a client may keep it
  bool shareable = false;                  // the same for every caller: a cache may keep it for all
  std::optional<InputRequired> input_required = {};  // instead of contents (input.h)
};

/// The usual case: one text.
inline ReadResult one_text(std::string uri, std::string mime_type, std::string text) {
  return {{ResourceContents{std::move(uri), std::move(mime_type), std::move(text)}}};
}

struct Resource {
  std::string uri, name;
  std::string title = {}, description = {}, mime_type = {};
  std::int64_t size_bytes = -1;          // -1: unknown
  nlohmann::json annotations = nullptr;  // audience, priority, lastModified; or null
  std::vector<Icon> icons = {};
  std::function<Result<ReadResult>(RequestContext& context)> read;
};

struct ResourceTemplate {
  std::string uri_template, name;  // RFC 6570, level 1: operator://{name}/spec
  std::string title = {}, description = {}, mime_type = {};
  nlohmann::json annotations = nullptr;
  std::vector<Icon> icons = {};
  std::map<std::string, Completer> variables = {};  // completion, for those that have it
  std::function<Result<ReadResult>(const std::string& uri, const Variables& variables,
                                   RequestContext& context)>
      read;
};

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
