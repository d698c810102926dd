// Defines tools that need input from the client. One implementation of a tool works in both
// protocol eras, because the server asks the client in the way that the client's revision of MCP
// requires.
#include "server/conformance/fixtures.h"

namespace assay::conformance {
namespace {

using mcp::InputRequest;
using mcp::RequestContext;
using mcp::Tool;
using mcp::ToolResult;
using nlohmann::json;

using Answer = std::function<ToolResult(const json& arguments, RequestContext& context)>;

InputRequest sample(const std::string& prompt, int max_tokens = 100) {
  return {"sampling/createMessage",
          {{"messages", {{{"role", "user"}, {"content", {{"type", "text"}, {"text", prompt}}}}}},
           {"maxTokens", max_tokens}}};
}
const InputRequest kRoots = {"roots/list", json::object()};

Tool tool(std::string name, std::string description, Answer answer,
          json input_schema = object_schema(json::object())) {
  Tool out;
  out.name = std::move(name);
  out.description = std::move(description);
  out.input_schema = std::move(input_schema);
  out.call = std::move(answer);
  out.interactive = true;
  return out;
}

/// Returns a handler whose first call asks for input. Its second call returns the client's answer.
Answer ask_once(const char* key, const InputRequest& request, const std::string& shown) {
  return [=](const json&, RequestContext& context) {
    if (!context.inputs.contains(key)) return need({{key, request}});
    return text(shown + context.inputs[key].dump());
  };
}

ToolResult greet_user(const json&, RequestContext& context) {
  const auto name = answered(context, "user_name", "name");
  return name ? text("Hello, " + *name + "!")
              : need({{"user_name", ask_for("What is your name?", "name")}});
}

ToolResult keep_state(const json&, RequestContext& context) {
  if (context.state != "asked" || !answered(context, "confirm", "ok"))
    return need({{"confirm", ask_for("Please confirm", "ok", "boolean")}}, "asked");
  return text("state-ok: the state came back unchanged");
}

ToolResult three_at_once(const json&, RequestContext& context) {
  const auto& inputs = context.inputs;
  if (inputs.contains("user_name") && inputs.contains("greeting") &&
      inputs.contains("client_roots"))
    return text("all three answers are there");
  return need({{"user_name", ask_for("What is your name?", "name")},
               {"greeting", sample("Generate a greeting", 50)},
               {"client_roots", kRoots}},
              "asked");
}

ToolResult two_rounds(const json&, RequestContext& context) {
  const auto name = answered(context, "step1", "name");
  if (context.state == "round 1" && name)
    return need({{"step2", ask_for("Step 2: What is your favorite color?", "color")}},
                "round 2 " + *name);
  const auto color = answered(context, "step2", "color");
  if (context.state.rfind("round 2 ", 0) == 0 && color)
    return text(context.state.substr(8) + " likes " + *color);
  return need({{"step1", ask_for("Step 1: What is your name?", "name")}}, "round 1");
}

/// Asks for each kind of input for which the client has declared the capability, and for no other
/// kind.
ToolResult by_capability(const json&, RequestContext& context) {
  if (!context.inputs.empty()) return text("the answers are there");
  std::map<std::string, InputRequest> requests;
  if (context.client_capabilities.contains("elicitation"))
    requests["elicit_input"] = ask_for("Elicitation input", "value");
  if (context.client_capabilities.contains("sampling"))
    requests["sample_input"] = sample("Sample request", 50);
  return requests.empty() ? text("the client declared nothing to ask for")
                          : need(std::move(requests), "asked");
}

ToolResult sampled(const json& arguments, RequestContext& context) {
  if (!context.inputs.contains("answer")) return need({{"answer", sample(arguments["prompt"])}});
  const json content = context.inputs["answer"].value("content", json::object());
  return text("LLM response: " +
              (content.is_object() ? content.value("text", "") : content.dump()));
}

ToolResult elicited(const json& arguments, RequestContext& context) {
  if (!context.inputs.contains("answer")) {
    const json schema = {
        {"type", "object"},
        {"properties", {{"response", {{"type", "string"}, {"description", "User's response"}}}}},
        {"required", {"response"}}};
    return need({{"answer", mcp::elicitation(arguments["message"], schema)}});
  }
  const json& answer = context.inputs["answer"];
  return text("User response: action=" + answer.value("action", "") +
              ", content=" + answer.value("content", json::object()).dump());
}

Answer elicit_form(const std::string& message, const json& properties) {
  const json schema = {{"type", "object"}, {"properties", properties}, {"required", json::array()}};
  return [=](const json&, RequestContext& context) {
    if (!context.inputs.contains("form"))
      return need({{"form", mcp::elicitation(message, schema)}});
    const json& answer = context.inputs["form"];
    return text("Elicitation completed: action=" + answer.value("action", "") +
                ", content=" + answer.value("content", json::object()).dump());
  };
}

json form_with_defaults() {
  return {{"name", {{"type", "string"}, {"description", "User name"}, {"default", "John Doe"}}},
          {"age", {{"type", "integer"}, {"description", "User age"}, {"default", 30}}},
          {"score", {{"type", "number"}, {"description", "User score"}, {"default", 95.5}}},
          {"status",
           {{"type", "string"},
            {"description", "User status"},
            {"enum", {"active", "inactive", "pending"}},
            {"default", "active"}}},
          {"verified",
           {{"type", "boolean"}, {"description", "Verification status"}, {"default", true}}}};
}

json titled(const std::string& word) {
  json out = json::array();
  for (const auto& [value, number] :
       {std::pair{"value1", "First"}, {"value2", "Second"}, {"value3", "Third"}})
    out.push_back({{"const", value}, {"title", std::string(number) + " " + word}});
  return out;
}

json form_with_enums() {
  const json options = {"option1", "option2", "option3"};
  return {{"untitledSingle",
           {{"type", "string"}, {"description", "Select one option"}, {"enum", options}}},
          {"titledSingle",
           {{"type", "string"},
            {"description", "Select one option with titles"},
            {"oneOf", titled("Option")}}},
          {"legacyEnum",
           {{"type", "string"},
            {"description", "Select one option (legacy)"},
            {"enum", {"opt1", "opt2", "opt3"}},
            {"enumNames", {"Option One", "Option Two", "Option Three"}}}},
          {"untitledMulti",
           {{"type", "array"},
            {"description", "Select multiple options"},
            {"minItems", 1},
            {"maxItems", 3},
            {"items", {{"type", "string"}, {"enum", options}}}}},
          {"titledMulti",
           {{"type", "array"},
            {"description", "Select multiple options with titles"},
            {"minItems", 1},
            {"maxItems", 3},
            {"items", {{"anyOf", titled("Choice")}}}}}};
}

}  // namespace

Status add_input_tools(mcp::Server& server) {
  const auto one_text = [](const char* name) {
    return object_schema({{name, {{"type", "string"}}}}, {name});
  };
  std::vector<Tool> tools = {
      tool("test_input_required_result_elicitation", "Asks the user's name", greet_user),
      tool("test_input_required_result_sampling", "Asks the client's model",
           ask_once("capital_question", sample("What is the capital of France?"),
                    "the model says: ")),
      tool("test_input_required_result_list_roots", "Asks for the client's roots",
           ask_once("client_roots", kRoots, "roots: ")),
      tool("test_input_required_result_request_state", "Keeps a state between two rounds",
           keep_state),
      tool("test_input_required_result_tampered_state", "Keeps a state between two rounds",
           keep_state),
      tool("test_input_required_result_multiple_inputs", "Asks three things at once",
           three_at_once),
      tool("test_input_required_result_multi_round", "Asks in two rounds", two_rounds),
      tool("test_input_required_result_capabilities", "Asks for what the client declared",
           by_capability),
      tool("test_missing_capability", "Needs a client with sampling",
           ask_once("answer", sample("Say yes"), "the model says: ")),
      tool("test_streaming_elicitation", "Asks for a confirmation",
           ask_once("confirm", ask_for("Please confirm", "ok", "boolean"), "confirmed: ")),
      tool("test_sampling", "Asks the client's model", sampled, one_text("prompt")),
      tool("test_elicitation", "Asks the user", elicited, one_text("message")),
      tool("test_elicitation_sep1034_defaults", "A form with defaults",
           elicit_form("Please review and update the form fields with defaults",
                       form_with_defaults())),
      tool("test_elicitation_sep1330_enums", "A form with enumerations",
           elicit_form("Please select options from the enum fields", form_with_enums())),
  };
  for (Tool& entry : tools) {
    if (Status added = server.add_tool(std::move(entry)); !added) return added;
  }
  return {};
}

}  // namespace assay::conformance
