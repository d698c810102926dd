// Defines the tools of the conformance server that return each kind of content, report progress,
// log, fail, or change the lists of tools, resources and prompts.
#include <chrono>

#include "base/clock.h"
#include "server/conformance/fixtures.h"

namespace assay::conformance {
namespace {

using mcp::RequestContext;
using mcp::Tool;
using mcp::ToolResult;
using nlohmann::json;

/// The pause between two steps of a tool. It is longer than the minimum interval between two
/// progress notifications, so that the server sends every notification.
constexpr std::chrono::milliseconds kBetweenSteps{120};

ToolResult blocks(std::vector<json> content) { return {false, "", nullptr, std::move(content)}; }

Tool tool(std::string name, std::string description,
          std::function<ToolResult(RequestContext&)> answer) {
  Tool out;
  out.name = std::move(name);
  out.description = std::move(description);
  out.input_schema = object_schema(json::object());
  out.call = [answer = std::move(answer)](const json&, RequestContext& context) {
    return answer(context);
  };
  return out;
}

ToolResult with_logging(RequestContext& context) {
  for (const char* step :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    context.log(mcp::LogLevel::info, "conformance", step);
    system_clock().pause(kBetweenSteps, context.stop);
  }
  return text("Tool with logging executed successfully");
}

ToolResult with_progress(RequestContext& context) {
  for (const int done : {0, 50, 100}) {
    context.progress(done, 100, "Completed step " + std::to_string(done) + " of 100");
    system_clock().pause(kBetweenSteps, context.stop);
  }
  return text("Progress reported");
}

/// A tool that ends its event stream before its result is sent, so that the client must reconnect
/// to get the result.
ToolResult reconnect(RequestContext& context) {
  context.release_stream();
  system_clock().pause(kBetweenSteps, context.stop);
  return text("Reconnection test completed successfully");
}

Tool schema_tool() {
  Tool out = tool("json_schema_2020_12_tool", "An input schema with much of JSON Schema 2020-12",
                  [](RequestContext&) { return text("called"); });
  out.input_schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"type", "object"},
      {"$defs",
       {{"address",
         {{"$anchor", "addressDef"},
          {"type", "object"},
          {"properties", {{"street", {{"type", "string"}}}, {"city", {{"type", "string"}}}}}}}}},
      {"properties",
       {{"name", {{"type", "string"}}},
        {"address", {{"$ref", "#/$defs/address"}}},
        {"contactMethod", {{"type", "string"}, {"enum", {"phone", "email"}}}},
        {"phone", {{"type", "string"}}},
        {"email", {{"type", "string"}}}}},
      {"allOf",
       json::array(
           {{{"anyOf", json::array({{{"required", {"phone"}}}, {{"required", {"email"}}}})}}})},
      {"if",
       {{"properties", {{"contactMethod", {{"const", "phone"}}}}},
        {"required", {"contactMethod"}}}},
      {"then", {{"required", {"phone"}}}},
      {"else", {{"required", {"email"}}}},
      {"additionalProperties", false}};
  return out;
}

Tool header_tool() {
  Tool out = tool("test_custom_headers", "An argument that HTTP clients mirror into a header",
                  [](RequestContext&) { return text("called"); });
  out.input_schema =
      object_schema({{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}}}, {"region"});
  return out;
}

}  // namespace

Status add_content_tools(mcp::Server& server) {
  const auto image = [] { return mcp::image_content(red_pixel_png(), "image/png"); };
  std::vector<Tool> tools = {
      tool("test_simple_text", "Plain text",
           [](RequestContext&) { return text("This is a simple text response for testing."); }),
      tool("test_image_content", "An image",
           [image](RequestContext&) { return blocks({image()}); }),
      tool("test_audio_content", "Audio",
           [](RequestContext&) { return blocks({mcp::audio_content(silent_wav(), "audio/wav")}); }),
      tool("test_embedded_resource", "An embedded resource",
           [](RequestContext&) {
             return blocks({mcp::embedded_content({"test://embedded-resource", "text/plain",
                                                   "This is an embedded resource content."})});
           }),
      tool("test_multiple_content_types", "Text, an image and a resource",
           [image](RequestContext&) {
             ToolResult out = text("Multiple content types test:");
             out.content = {image(), mcp::embedded_content({"test://mixed-content-resource",
                                                            "application/json",
                                                            R"({"test":"data","value":123})"})};
             return out;
           }),
      tool("test_error_handling", "Fails",
           [](RequestContext&) {
             return ToolResult{true, "This tool intentionally returns an error for testing",
                               nullptr};
           }),
      tool("test_tool_with_progress", "Reports progress", with_progress),
      schema_tool(),
      header_tool(),
      tool("test_trigger_tool_change", "Says that the list of tools changed",
           [&server](RequestContext&) {
             server.publish({mcp::Change::Kind::tools});
             return text("published");
           }),
      tool("test_trigger_prompt_change", "Says that the list of prompts changed",
           [&server](RequestContext&) {
             server.publish({mcp::Change::Kind::prompts});
             return text("published");
           }),
  };
  std::vector<Tool> interactive = {
      tool("test_tool_with_logging", "Logs", with_logging),
      tool("test_logging_tool", "Logs", with_logging),
      tool("test_reconnection", "Ends its event stream in the middle of the call", reconnect),
  };
  for (Tool& entry : interactive) {
    entry.interactive = true;
    tools.push_back(std::move(entry));
  }
  for (Tool& entry : tools) {
    if (Status added = server.add_tool(std::move(entry)); !added) return added;
  }
  return {};
}

}  // namespace assay::conformance
