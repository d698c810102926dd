#include "tools/resources/resources.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/text.h"
#include "operators/catalog.h"
#include "tools/answer/reference_source.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using mcp::RequestContext;
using mcp::Variables;
using operators::Guide;
using operators::Operator;

constexpr std::int64_t kArtifactBytes = 14'000;  // the most bytes that read_artifact reads at once
// The time for which a client may cache a resource that does not change while the server runs. The
// list of tools may be cached for the same time.
constexpr std::int64_t kConstantTtlMs = 3'600'000;

constexpr std::array kCodes = {ErrorCode::invalid_argument,  ErrorCode::not_found,
                               ErrorCode::permission_denied, ErrorCode::resource_exhausted,
                               ErrorCode::unavailable,       ErrorCode::internal};

/// Returns the Error from which error_answer() (tools/answer/answers.h) made the answer.
Error error_of(const mcp::ToolResult& answer) {
  const nlohmann::json& error = answer.structured.at("error");
  const auto name = error.value("code", std::string());
  const auto* code = std::find_if(kCodes.begin(), kCodes.end(),
                                  [&](ErrorCode one) { return to_string(one) == name; });
  return {code == kCodes.end() ? ErrorCode::internal : *code,
          error.value("message", std::string())};
}

using ReadText =
    std::function<Result<std::string>(const Variables& variables, RequestContext& context)>;

/// Makes the `read` function of a resource whose text changes while the server runs, or differs
/// between callers. Clients must not cache such a text.
auto fresh(const std::string& mime_type, ReadText read) {
  return [mime_type, read = std::move(read)](const std::string& uri, const Variables& variables,
                                             RequestContext& context) -> Result<mcp::ReadResult> {
    Result<std::string> text = read(variables, context);
    if (!text) return fail(text.error());
    return mcp::one_text(uri, mime_type, std::move(*text));
  };
}

/// Makes the `read` function of a resource whose text is the same for every caller as long as the
/// server runs.
auto constant(const std::string& mime_type, ReadText read) {
  return [read = fresh(mime_type, std::move(read))](
             const std::string& uri, const Variables& variables,
             RequestContext& context) -> Result<mcp::ReadResult> {
    Result<mcp::ReadResult> result = read(uri, variables, context);
    if (!result) return result;
    result->ttl_ms = kConstantTtlMs;
    result->shareable = true;
    return result;
  };
}

/// Replaces the variables of a URI: "operator://{name}/spec" becomes "operator://vector_add/spec".
/// The values are names, which need no percent-encoding.
std::string expanded(std::string uri, const Variables& variables) {
  for (const auto& [name, value] : variables) {
    const std::string variable = "{" + name + "}";
    if (const auto at = uri.find(variable); at != std::string::npos)
      uri.replace(at, variable.size(), value);
  }
  return uri;
}

/// A resource that results from a template when its variables have values. Clients can list it.
struct Instance {
  Variables variables;
  std::string name, title, description;
};

void add(ResourceList& list, mcp::ResourceTemplate shape, const std::vector<Instance>& instances) {
  // The resources share one `read` function, because each copy of the function would hold all
  // guides.
  const auto read = std::make_shared<const decltype(shape.read)>(shape.read);
  for (const Instance& instance : instances) {
    mcp::Resource resource;
    resource.uri = expanded(shape.uri_template, instance.variables);
    resource.name = instance.name;
    resource.title = instance.title;
    resource.description = instance.description;
    resource.mime_type = shape.mime_type;
    resource.read = [read, uri = resource.uri, variables = instance.variables](
                        RequestContext& context) { return (*read)(uri, variables, context); };
    list.resources.push_back(std::move(resource));
  }
  list.templates.push_back(std::move(shape));
}

mcp::Completer operator_names(const operators::Catalog& catalog) {
  std::vector<std::string> names;
  for (const Operator& op : catalog.all()) names.push_back(op.name);
  return mcp::complete_from(std::move(names));
}

/// The list of resources contains no operator: two entries for each would be 70 KB, which some
/// clients give to the model. Clients complete the names in the templates.
void add_specs(ResourceList& list, const Services& services) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "operator://{name}/spec";
  shape.name = "operator_spec";
  shape.title = "Specification of an operator";
  shape.description =
      "Description, signature, reference, public cases, tolerance and limits: the answer of "
      "`fetch_spec`.";
  shape.mime_type = "text/plain";
  shape.variables = {{"name", operator_names(services.catalog)}};
  shape.read = constant(shape.mime_type, [tool = fetch_spec_tool(services)](
                                             const Variables& variables, RequestContext& context) {
    return tool_text(tool, {{"operator", variables.at("name")}, {"response_format", "detailed"}},
                     context);
  });
  add(list, std::move(shape), {});
}

void add_references(ResourceList& list, const Services& services) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "operator://{name}/reference";
  shape.name = "operator_reference";
  shape.title = "PyTorch reference of an operator";
  shape.description = "The Python source that submissions are compared with.";
  shape.mime_type = "text/x-python";
  shape.variables = {{"name", operator_names(services.catalog)}};
  shape.read =
      constant(shape.mime_type,
               [&catalog = services.catalog](const Variables& variables,
                                             const RequestContext&) -> Result<std::string> {
                 const Operator* op = catalog.find(variables.at("name"));
                 if (op == nullptr) return fail(catalog.unknown(variables.at("name")));
                 return shown_reference(op->reference_source);
               });
  add(list, std::move(shape), {});
}

void add_guides(ResourceList& list, const std::vector<Guide>& guides) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "guide://{topic}";
  shape.name = "guide";
  shape.title = "Guide for writing kernels";
  shape.description = "How to write correct and fast kernels: one guide for each topic.";
  shape.mime_type = "text/markdown";
  std::vector<std::string> topics;
  std::vector<Instance> instances;
  for (const Guide& guide : guides) {
    topics.push_back(guide.topic);
    instances.push_back({{{"topic", guide.topic}}, guide.topic, guide.title, ""});
  }
  shape.variables = {{"topic", mcp::complete_from(std::move(topics))}};
  shape.read = constant(
      shape.mime_type,
      [guides](const Variables& variables, const RequestContext&) -> Result<std::string> {
        const std::string& topic = variables.at("topic");
        const auto found = std::find_if(guides.begin(), guides.end(),
                                        [&](const Guide& guide) { return guide.topic == topic; });
        if (found != guides.end()) return found->text;
        return fail(ErrorCode::not_found,
                    "unknown topic; valid: " +
                        (guides.empty() ? "none" : join(guides, ", ", &Guide::topic)));
      });
  add(list, std::move(shape), instances);
}

/// Adds the template of the URIs of scorecards. The list contains no scorecard itself, because the
/// handle of a run is a secret of the client that started the run.
void add_scorecards(ResourceList& list, const Services& services) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "run://{run}/scorecard";
  shape.name = "scorecard";
  shape.title = "Scorecard of a run";
  shape.description =
      "Pass@1, Perf@1 and the outcome of each operator, for the run handle that `start_run` "
      "returned: "
      "the answer of `scorecard`.";
  shape.mime_type = "text/plain";
  shape.read = fresh(shape.mime_type, [tool = scorecard_tool(services)](const Variables& variables,
                                                                        RequestContext& context) {
    return tool_text(tool, {{"run", variables.at("run")}, {"response_format", "detailed"}},
                     context);
  });
  add(list, std::move(shape), {});
}

/// Artifacts are not listed: there are too many artifacts, and a handle is a secret of the job's
/// client.
void add_artifacts(ResourceList& list, const Services& services) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "artifact://{id}";
  shape.name = "artifact";
  shape.title = "Artifact of a job";
  shape.description =
      "The beginning of PTX, a launch plan or a log, by its handle; `read_artifact` reads the rest "
      "and searches.";
  shape.mime_type = "text/plain";
  shape.read = fresh(shape.mime_type, [tool = read_artifact_tool(services)](
                                          const Variables& variables, RequestContext& context) {
    return tool_text(tool, {{"artifact", variables.at("id")}, {"limit", kArtifactBytes}}, context);
  });
  add(list, std::move(shape), {});
}

}  // namespace

Result<std::string> tool_text(const mcp::Tool& tool, const nlohmann::json& arguments,
                              mcp::RequestContext& context) {
  mcp::ToolResult answer = tool.call(arguments, context);
  if (answer.work) answer = answer.work(context);
  if (answer.is_error) return fail(error_of(answer));
  return std::move(answer.text);
}

ResourceList make_resources(const Services& services, const std::vector<Guide>& guides) {
  ResourceList list;
  add_specs(list, services);
  add_references(list, services);
  add_guides(list, guides);
  add_scorecards(list, services);
  add_artifacts(list, services);
  return list;
}

}  // namespace assay::tools
