#include "server/mcp/core/tool.h"

#include <cmath>
#include <cstdint>
#include <exception>

#include "base/log.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// The maximum length of a tool's name. Clients put a prefix before the name, and some clients
/// refuse the tool if the result is too long.
constexpr std::size_t kMaxNameBytes = 64;
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

json text_result(std::string text, bool is_error) {
  json result = {{"content", json::array({text_content(std::move(text))})}};
  if (is_error) result["isError"] = true;
  return result;
}

bool legal_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string::npos;
}

/// Replaces a value such as 3.0 by 3 if the schema requires an integer. JSON Schema and some
/// clients regard 3.0 as an integer, but the validator does not.
void normalise_integers(json& arguments, const json& schema) {
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return;
  for (auto& [key, value] : arguments.items()) {
    if (!value.is_number_float()) continue;
    const auto property = properties->find(key);
    if (property == properties->end() || !property->is_object() ||
        property->value("type", json()) != "integer")
      continue;
    const double number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) <= kMaxExactInteger)
      value = static_cast<std::int64_t>(number);
  }
}

std::string bad_arguments(const std::string& tool, const std::vector<std::string>& problems) {
  std::string text = "Invalid arguments for " + tool + ":";
  for (const std::string& problem : problems) text += "\n- " + problem;
  return text;
}

}  // namespace

Status ToolRegistry::add(Tool tool) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "tool '" + tool.name + "': " + why);
  };
  if (!legal_name(tool.name)) return refuse("a name has 1 to 64 characters of a-z A-Z 0-9 _ - .");
  if (find(tool.name) != nullptr) return refuse("there is already a tool of this name");
  if (!tool.call) return refuse("there is no handler");
  if (!tool.input_schema.is_object() || tool.input_schema.value("type", json()) != "object")
    return refuse("input_schema must be of type object");
  auto input = Schema::compile(tool.input_schema);
  if (!input) return refuse("input_schema " + input.error().message);
  auto headers = param_headers(tool.input_schema);
  if (!headers) return refuse("input_schema: " + headers.error().message);
  std::optional<Schema> output;
  if (!tool.output_schema.is_null()) {
    if (!tool.output_schema.is_object() || tool.output_schema.value("type", json()) != "object")
      return refuse("output_schema must be null or of type object");
    auto compiled = Schema::compile(tool.output_schema);
    if (!compiled) return refuse("output_schema " + compiled.error().message);
    output.emplace(std::move(*compiled));
  }
  const json& listed =
      tool.listed_output_schema.is_null() ? tool.output_schema : tool.listed_output_schema;
  if (!tool.listed_output_schema.is_null()) {
    if (!output || !listed.is_object() || listed.value("type", json()) != "object")
      return refuse("listed_output_schema must be of type object, next to an output_schema");
    if (const auto compiled = Schema::compile(listed); !compiled)
      return refuse("listed_output_schema " + compiled.error().message);
  }
  json shown = {
      {"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.input_schema}};
  if (!tool.title.empty()) shown["title"] = tool.title;
  if (output) shown["outputSchema"] = listed;
  show_icons(shown, tool.icons);
  if (tool.annotations.is_object() && !tool.annotations.empty())
    shown["annotations"] = tool.annotations;
  list_.push_back(shown);
  if (tool.task_support != TaskSupport::forbidden) {
    has_tasks_ = true;
    shown["execution"] = {
        {"taskSupport", tool.task_support == TaskSupport::required ? "required" : "optional"}};
  }
  legacy_list_.push_back(std::move(shown));
  entries_.push_back(std::make_unique<Entry>(
      Entry{std::move(tool), std::move(*input), std::move(output), std::move(*headers)}));
  return {};
}

const ToolRegistry::Entry* ToolRegistry::find(const std::string& name) const {
  for (const auto& entry : entries_) {
    if (entry->tool.name == name) return entry.get();
  }
  return nullptr;
}

std::string ToolRegistry::names() const {
  if (entries_.empty()) return "none";
  return join(entries_, ", ", [](const auto& entry) { return entry->tool.name; });
}

std::optional<ToolResult> ToolRegistry::refuse_arguments(const Entry& entry,
                                                         json& arguments) const {
  normalise_integers(arguments, entry.tool.input_schema);
  const auto problems = entry.input.check(arguments);
  if (problems.empty()) return std::nullopt;
  return ToolResult{true, bad_arguments(entry.tool.name, problems), nullptr};
}

ToolResult ToolRegistry::run(const Entry& entry, const std::function<ToolResult()>& work) const {
  const std::string& name = entry.tool.name;
  try {
    return work();
  } catch (const std::exception& error) {
    log::error("a tool threw an exception", {{"tool", name}, {"error", error.what()}});
  } catch (...) {
    log::error("a tool threw something that is no std::exception", {{"tool", name}});
  }
  return {true,
          "Internal error in " + name +
              ": a defect of this server, not of your arguments. Its log has the details; other "
              "tools still work.",
          nullptr};
}

Result<json> ToolRegistry::render(const Entry& entry, ToolResult answer) const {
  const std::string& name = entry.tool.name;
  const bool only_blocks = answer.text.empty() && !answer.content.empty();
  json result = text_result(std::move(answer.text), answer.is_error);
  if (only_blocks) result["content"].clear();
  for (json& block : answer.content) result["content"].push_back(std::move(block));
  std::vector<std::string> problems;
  if (entry.output) {
    problems = entry.output->check(answer.structured);
  } else if (!answer.structured.is_object()) {
    problems.emplace_back("no object");
  }
  if (problems.empty()) {
    result["structuredContent"] = std::move(answer.structured);
  } else if (entry.output && !answer.is_error) {
    log::error("the result of a tool breaks its output schema",
               {{"tool", name}, {"problem", problems.front()}});
    return fail(
        ErrorCode::internal,
        "tool '" + name +
            "' gave a result that breaks its own output schema; this is a defect of the server");
  }
  return result;
}

}  // namespace assay::mcp
