#include "server/mcp/core/resource.h"

#include <algorithm>
#include <exception>

#include "base/log.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// Returns the entry for a resource or a template in the list that clients receive.
template <class Entry>
json describe(const Entry& entry) {
  json shown = {{"name", entry.name}};
  if (!entry.title.empty()) shown["title"] = entry.title;
  if (!entry.description.empty()) shown["description"] = entry.description;
  if (!entry.mime_type.empty()) shown["mimeType"] = entry.mime_type;
  if (entry.annotations.is_object() && !entry.annotations.empty())
    shown["annotations"] = entry.annotations;
  show_icons(shown, entry.icons);
  return shown;
}

bool has_scheme(const std::string& uri) {
  const std::size_t colon = uri.find(':');
  return colon != std::string::npos && colon > 0 && uri.find_first_of("{}/ ") > colon;
}

/// Calls a function that reads a resource. If the function throws an exception, returns an Error.
/// The text of the exception is logged, but not sent to the client.
template <class Read>
Result<ReadResult> guarded(const std::string& uri, const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    log::error("reading a resource threw an exception", {{"uri", uri}, {"error", error.what()}});
  } catch (...) {
    log::error("reading a resource threw something that is no std::exception", {{"uri", uri}});
  }
  return fail(ErrorCode::internal,
              "internal error while reading '" + uri + "'; the server's log has the details");
}

Rpc<ReadResult> checked(const std::string& uri, Result<ReadResult> read) {
  if (!read && read.error().code == ErrorCode::not_found)
    return refuse_rpc(kResourceNotFound, "Resource not found: " + read.error().message,
                      {{"uri", uri}});
  if (!read) return refuse_rpc(read.error());
  if (read->contents.empty() && !read->input_required)
    return refuse_rpc(kInternalError,
                      "reading '" + uri + "' gave nothing; this is a defect of the server");
  return std::move(*read);
}

}  // namespace

json to_json(const ReadResult& result, bool with_cache_hint) {
  json contents = json::array();
  for (const ResourceContents& entry : result.contents) contents.push_back(to_json(entry));
  json out = {{"contents", std::move(contents)}};
  if (with_cache_hint)
    out.update({{"ttlMs", result.ttl_ms}, {"cacheScope", result.shareable ? "public" : "private"}});
  return out;
}

Status ResourceRegistry::add(Resource resource) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "resource '" + resource.uri + "': " + why);
  };
  if (!has_scheme(resource.uri)) return refuse("a URI begins with a scheme, such as guide:");
  if (resource.name.empty()) return refuse("there is no name");
  if (!resource.read) return refuse("there is no reader");
  for (const auto& other : resources_) {
    if (other->uri == resource.uri) return refuse("there is already a resource of this URI");
  }
  json shown = describe(resource);
  shown["uri"] = resource.uri;
  if (resource.size_bytes >= 0) shown["size"] = resource.size_bytes;
  resource_list_.push_back(std::move(shown));
  resources_.push_back(std::make_unique<Resource>(std::move(resource)));
  return {};
}

Status ResourceRegistry::add(ResourceTemplate resource_template) {
  auto uri = UriTemplate::parse(resource_template.uri_template);
  if (!uri) return fail(uri.error());
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument,
                "resource template '" + resource_template.uri_template + "': " + why);
  };
  if (!has_scheme(resource_template.uri_template))
    return refuse("a URI begins with a scheme, such as operator:");
  if (resource_template.name.empty()) return refuse("there is no name");
  if (!resource_template.read) return refuse("there is no reader");
  for (const auto& other : templates_) {
    if (other->uri.text() == uri->text()) return refuse("there is already such a template");
  }
  for (const auto& [name, completer] : resource_template.variables) {
    if (std::find(uri->variables().begin(), uri->variables().end(), name) == uri->variables().end())
      return refuse("it has no variable '" + name + "'");
  }
  json shown = describe(resource_template);
  shown["uriTemplate"] = resource_template.uri_template;
  template_list_.push_back(std::move(shown));
  templates_.push_back(std::make_unique<TemplateEntry>(
      TemplateEntry{std::move(resource_template), std::move(*uri)}));
  return {};
}

Rpc<ReadResult> ResourceRegistry::read(const json& params, RequestContext& context) const {
  const auto found = params.find("uri");
  if (found == params.end() || !found->is_string())
    return refuse_rpc(kInvalidParams, "params.uri must be a string");
  const std::string uri = *found;
  for (const auto& resource : resources_) {
    if (resource->uri == uri)
      return checked(uri, guarded(uri, [&] { return resource->read(context); }));
  }
  for (const auto& entry : templates_) {
    if (const auto variables = entry->uri.match(uri))
      return checked(uri, guarded(uri, [&] {
                       return entry->resource_template.read(uri, *variables, context);
                     }));
  }
  return refuse_rpc(kResourceNotFound,
                    "Resource not found: '" + uri +
                        "'; resources/list and resources/templates/list show the valid ones",
                    {{"uri", uri}});
}

bool ResourceRegistry::knows(const std::string& uri) const {
  for (const auto& resource : resources_) {
    if (resource->uri == uri) return true;
  }
  for (const auto& entry : templates_) {
    if (entry->uri.match(uri)) return true;
  }
  return false;
}

Rpc<Completer> ResourceRegistry::completer(const std::string& uri_template,
                                           const std::string& variable) const {
  std::string known;
  for (const auto& entry : templates_) {
    if (entry->uri.text() != uri_template) {
      known.append(known.empty() ? "" : ", ").append(entry->uri.text());
      continue;
    }
    const auto& names = entry->uri.variables();
    if (std::find(names.begin(), names.end(), variable) == names.end()) {
      return refuse_rpc(kInvalidParams,
                        "'" + uri_template + "' has no variable '" + variable + "'");
    }
    const auto found = entry->resource_template.variables.find(variable);
    return found == entry->resource_template.variables.end() ? Completer() : found->second;
  }
  for (const auto& resource : resources_) {
    if (resource->uri == uri_template) return Completer();  // a plain resource has no variables
  }
  return refuse_rpc(kInvalidParams, "Unknown resource template '" + uri_template +
                                        "'; valid: " + (known.empty() ? "none" : known));
}

bool ResourceRegistry::completes() const {
  return std::any_of(templates_.begin(), templates_.end(),
                     [](const auto& entry) { return !entry->resource_template.variables.empty(); });
}

}  // namespace assay::mcp
