// Defines resources: documents that a client may list and read by URI. A resource template
// describes many URIs by a pattern with variables. ResourceRegistry lists the resources and the
// templates, and it finds and reads the document that a URI names.
//
//   const auto guide = [](RequestContext&) -> Result<ReadResult> {
//     return one_text("guide://triton", "text/markdown", "# Triton");
//   };
//   const Status added = server.add_resource(
//       {.uri = "guide://triton", .name = "triton", .mime_type = "text/markdown", .read = guide});
//
// Many threads call `read` simultaneously. `read` may return these errors: not_found if there is no
// such resource; invalid_argument or permission_denied if the resource may not be read in this way.
// The client receives the error's message.
//
// All resources must be registered before the first call. After that, a registry is thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/completion.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/content.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/protocol/uri_template.h"

namespace assay::mcp {

struct ReadResult {
  std::vector<ResourceContents> contents;  // at least one element
  std::int64_t ttl_ms = 0;                 // how long a client may cache the contents
  /// True when the contents are the same for every caller, so that a shared cache may keep them.
  bool shareable = false;
  /// The input that the handler needs before it can return contents (input.h).
  std::optional<InputRequired> input_required = {};
};

/// Returns a result that consists of one text.
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
  std::string uri_template, name;  // uri_template: RFC 6570, level 1, e.g. operator://{name}/spec
  std::string title = {}, description = {}, mime_type = {};
  nlohmann::json annotations = nullptr;
  std::vector<Icon> icons = {};
  std::map<std::string, Completer> variables = {};  // completers by name of variable
  std::function<Result<ReadResult>(const std::string& uri, const Variables& variables,
                                   RequestContext& context)>
      read;
};

/// Returns the protocol's ReadResourceResult. `with_cache_hint` must be true only in the stateless
/// era, because the legacy era has no cache hint.
nlohmann::json to_json(const ReadResult& result, bool with_cache_hint);

class ResourceRegistry {
 public:
  Status add(Resource resource);
  Status add(ResourceTemplate resource_template);

  bool empty() const { return resources_.empty() && templates_.empty(); }
  const nlohmann::json& resources() const { return resource_list_; }
  const nlohmann::json& templates() const { return template_list_; }

  /// Reads the resource that params.uri names. If several entries match, a resource with exactly
  /// this URI has precedence over templates, and an earlier template has precedence over a later
  /// one. Errors: kResourceNotFound if the URI is unknown; the error's data.uri is the URI.
  Rpc<ReadResult> read(const nlohmann::json& params, RequestContext& context) const;
  /// Returns true if `uri` names a resource or fits a template. A client may subscribe only to such
  /// a URI.
  bool knows(const std::string& uri) const;

  /// Returns the completer of a template's variable, or null when the variable has no completer.
  /// Returns an error if the template or the variable is unknown.
  Rpc<Completer> completer(const std::string& uri_template, const std::string& variable) const;
  /// Returns true when at least one variable has a completer.
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
