// Creates the server that the official MCP conformance suite tests. The suite expects tools,
// resources and prompts with fixed names. `assay serve --conformance` runs this server, which has
// nothing to do with kernels.
//
//   Result<std::unique_ptr<mcp::Server>> server =
//       make_conformance_server();  // an Error is a defect of a fixture
//
// The handlers have no state and are thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/server.h"

namespace assay::conformance {

Result<std::unique_ptr<mcp::Server>> make_conformance_server();

/// Adds tools that return each kind of content, report progress, log, fail, and use schemas.
Status add_content_tools(mcp::Server& server);
/// Adds tools that need input from the client, in both protocol eras.
Status add_input_tools(mcp::Server& server);
/// Adds tools for the tasks extension.
Status add_task_tools(mcp::Server& server);
/// Adds resources and prompts.
Status add_documents(mcp::Server& server);

/// Returns a result whose content is the text `words`.
mcp::ToolResult text(std::string words, bool is_error = false);
/// Returns a result that asks the client for input. The client sends `state` back together with its
/// answers.
mcp::ToolResult need(std::map<std::string, mcp::InputRequest> requests, std::string state = "");
/// Returns a request for a form with one required field.
mcp::InputRequest ask_for(std::string message, const char* field, const char* type = "string");

/// Returns a schema for objects that have only these properties.
nlohmann::json object_schema(nlohmann::json properties,
                             nlohmann::json required = nlohmann::json::array());

/// Returns `inputs[key].content[field]` as text. Returns nothing if the client declined to answer
/// or its answer has no such field.
std::optional<std::string> answered(const mcp::RequestContext& context, const char* key,
                                    const char* field);

/// Returns a PNG image of one red pixel.
std::string red_pixel_png();
/// Returns a WAV file with one silent sample.
std::string silent_wav();

}  // namespace assay::conformance
