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
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/input.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/protocol/completion.h"
#include "server/mcp/protocol/content.h"

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

}  // namespace assay::mcp
