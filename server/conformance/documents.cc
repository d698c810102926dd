// Defines resources and prompts with the names that the official conformance suite expects.
#include <cstdint>

#include "server/conformance/fixtures.h"

namespace assay::conformance {
namespace {

using mcp::PromptResult;
using mcp::ReadResult;
using mcp::RequestContext;
using mcp::Variables;
using nlohmann::json;

constexpr std::int64_t kTtlMs = 60'000;

PromptResult say(std::vector<json> blocks) {
  PromptResult out;
  for (json& block : blocks) out.messages.push_back({"user", std::move(block)});
  return out;
}

Status add_resources(mcp::Server& server) {
  const auto text = [](const char* uri, const char* body) {
    return [=](RequestContext&) -> Result<ReadResult> {
      ReadResult out = mcp::one_text(uri, "text/plain", body);
      out.ttl_ms = kTtlMs;
      return out;
    };
  };
  const auto binary = [](RequestContext&) -> Result<ReadResult> {
    return ReadResult{
        {mcp::ResourceContents{"test://static-binary", "image/png", red_pixel_png(), true}},
        kTtlMs};
  };
  const auto item = [](const std::string& uri, const Variables& variables,
                       RequestContext&) -> Result<ReadResult> {
    const std::string& id = variables.at("id");
    return mcp::one_text(
        uri, "application/json",
        json{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}}.dump());
  };
  std::vector<mcp::Resource> resources = {
      {.uri = "test://static-text",
       .name = "static-text",
       .title = "Static Text Resource",
       .description = "A text",
       .mime_type = "text/plain",
       .read = text("test://static-text", "This is the content of the static text resource.")},
      {.uri = "test://static-binary",
       .name = "static-binary",
       .title = "Static Binary Resource",
       .description = "An image",
       .mime_type = "image/png",
       .read = binary},
      {.uri = "test://watched-resource",
       .name = "watched-resource",
       .title = "Watched Resource",
       .description = "A text to subscribe to",
       .mime_type = "text/plain",
       .read = text("test://watched-resource", "Watched resource content")},
  };
  for (mcp::Resource& resource : resources) {
    if (Status added = server.add_resource(std::move(resource)); !added) return added;
  }
  return server.add_template({.uri_template = "test://template/{id}/data",
                              .name = "template",
                              .title = "Resource Template",
                              .description = "One text per id",
                              .mime_type = "application/json",
                              .variables = {{"id", mcp::complete_from({"123", "456"})}},
                              .read = item});
}

Status add_prompts(mcp::Server& server) {
  const auto required = [](const char* name, const char* description) {
    return mcp::PromptArgument{.name = name,
                               .description = description,
                               .required = true,
                               .complete = mcp::complete_from({"test", "testing"})};
  };
  std::vector<mcp::Prompt> prompts = {
      {.name = "test_simple_prompt",
       .title = "Simple Test Prompt",
       .description = "No arguments",
       .get = [](const Variables&, RequestContext&) -> Result<PromptResult> {
         return say({mcp::text_content("This is a simple prompt for testing.")});
       }},
      {.name = "test_prompt_with_arguments",
       .title = "Prompt With Arguments",
       .description = "Two arguments",
       .arguments = {required("arg1", "First test argument"),
                     required("arg2", "Second test argument")},
       .get = [](const Variables& values, RequestContext&) -> Result<PromptResult> {
         return say({mcp::text_content("Prompt with arguments: arg1='" + values.at("arg1") +
                                       "', arg2='" + values.at("arg2") + "'")});
       }},
      {.name = "test_prompt_with_embedded_resource",
       .title = "Prompt With Embedded Resource",
       .description = "A resource",
       .arguments = {required("resourceUri", "URI of the resource to embed")},
       .get = [](const Variables& values, RequestContext&) -> Result<PromptResult> {
         return say({mcp::embedded_content({values.at("resourceUri"), "text/plain",
                                            "Embedded resource content for testing."}),
                     mcp::text_content("Please process the embedded resource above.")});
       }},
      {.name = "test_prompt_with_image",
       .title = "Prompt With Image",
       .description = "An image",
       .get = [](const Variables&, RequestContext&) -> Result<PromptResult> {
         return say({mcp::image_content(red_pixel_png(), "image/png"),
                     mcp::text_content("Please analyze the image above.")});
       }},
      {.name = "test_input_required_result_prompt",
       .title = "Prompt That Asks",
       .description = "Asks the user first",
       .get = [](const Variables&, RequestContext& context) -> Result<PromptResult> {
         if (const auto answer = answered(context, "user_context", "context"))
           return say({mcp::text_content("Context: " + *answer)});
         const json schema = {{"type", "object"},
                              {"properties", {{"context", {{"type", "string"}}}}},
                              {"required", {"context"}}};
         PromptResult out;
         out.input_required = mcp::InputRequired{
             {{"user_context", mcp::elicitation("What context should the prompt use?", schema)}}};
         return out;
       }},
  };
  for (mcp::Prompt& prompt : prompts) {
    if (Status added = server.add_prompt(std::move(prompt)); !added) return added;
  }
  return {};
}

}  // namespace

Status add_documents(mcp::Server& server) {
  if (Status added = add_resources(server); !added) return added;
  return add_prompts(server);
}

}  // namespace assay::conformance
