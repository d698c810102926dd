// The server that the official conformance suite expects: tools, resources and prompts under fixed
// names. `assay serve --conformance` serves it. It has nothing to do with kernels.
//
//   Result<std::unique_ptr<mcp::Server>> server =
//       make_conformance_server();  // an Error is a defect of a fixture
//
// The handlers keep no state and are thread-safe.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/mcp/core/server.h"

namespace assay::conformance {

Result<std::unique_ptr<mcp::Server>> make_conformance_server();

/// Tools with each kind of content, progress, log messages, errors and schemas.
Status add_content_tools(mcp::Server& server);
/// Tools that need input from the client, in every era.
Status add_input_tools(mcp::Server& server);
/// Tools for the tasks extension.
Status add_task_tools(mcp::Server& server);
/// Resources and prompts.
Status add_documents(mcp::Server& server);

/// Returns a result whose content is `words`.
mcp::ToolResult text(std::string words, bool is_error = false);
/// Returns a result that asks the client first. `state` comes back with the answers.
mcp::ToolResult need(std::map<std::string, mcp::InputRequest> requests, std::string state = "");
/// Returns the question for a form with one required field.
mcp::InputRequest ask_for(std::string message, const char* field, const char* type = "string");

/// Returns an object schema that allows only these properties.
nlohmann::json object_schema(nlohmann::json properties,
                             nlohmann::json required = nlohmann::json::array());

/// Returns `inputs[key].content[field]` as text, or nothing when the client declined or gave no
/// such answer.
std::optional<std::string> answered(const mcp::RequestContext& context, const char* key,
                                    const char* field);

/// A PNG of one red pixel.
std::string red_pixel_png();
/// A WAV of one silent sample.
std::string silent_wav();

}  // namespace assay::conformance
