// What the official conformance suite wants of a server: tools, resources and prompts under its
// fixed names. Served by `assay serve --conformance`, apart from everything that has to do with
// kernels.
//
//   auto server = make_conformance_server();        // an Error is a defect of a fixture
//
// The handlers are stateless and thread-safe.
//
// The smallest files of their kinds.
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

Status add_content_tools(
    mcp::Server& server);  // each kind of content, progress, log messages, errors, schemas
Status add_input_tools(mcp::Server& server);  // input from the client, in every era
Status add_task_tools(mcp::Server& server);   // the tasks extension
Status add_documents(mcp::Server& server);    // resources and prompts

/// A result whose content is `words`.
mcp::ToolResult text(std::string words, bool is_error = false);
/// A result that asks the client first. `state` comes back with the answers.
mcp::ToolResult need(std::map<std::string, mcp::InputRequest> requests, std::string state = "");
/// A form with one field.
mcp::InputRequest ask_for(std::string message, const char* field, const char* type = "string");

/// An object schema with these properties.
nlohmann::json object_schema(nlohmann::json properties,
                             nlohmann::json required = nlohmann::json::array());

/// The answer `inputs[key].content[field]` as text; nothing when the client gave none, or declined.
std::optional<std::string> answered(const mcp::RequestContext& context, const char* key,
                                    const char* field);

/// A PNG of one red pixel.
std::string red_pixel_png();
/// A WAV of one silent sample.
std::string silent_wav();

}  // namespace assay::conformance
