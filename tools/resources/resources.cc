#include "tools/resources/resources.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "operators/catalog.h"
#include "tools/answer/reference_source.h"
#include "tools/registry.h"
#include "tools/resources/tool_text.h"

namespace assay::tools {
namespace {

using mcp::RequestContext;
using mcp::Variables;
using operators::Guide;
using operators::Operator;

constexpr std::int64_t kArtifactBytes = 14'000;  // the most that read_artifact reads
// Of a resource that does not change while the server runs; the list of tools has the same.
constexpr std::int64_t kConstantTtlMs = 3'600'000;

using ReadText =
    std::function<Result<std::string>(const Variables& variables, RequestContext& context)>;

/// Changes while the server runs, or differs between callers: not for caches.
auto fresh(const std::string& mime_type, ReadText read) {
  return [mime_type, read = std::move(read)](const std::string& uri, const Variables& variables,
                                             RequestContext& context) -> Result<mcp::ReadResult> {
    Result<std::string> text = read(variables, context);
    if (!text) return fail(text.error());
    return mcp::one_text(uri, mime_type, std::move(*text));
  };
}

/// Is the same for every caller for as long as the server runs.
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

/// "operator://{name}/spec" -> "operator://vector_add/spec". The values are names, which need no
/// percent-encoding.
std::string expanded(std::string uri, const Variables& variables) {
  for (const auto& [name, value] : variables) {
    const std::string variable = "{" + name + "}";
    if (const auto at = uri.find(variable); at != std::string::npos)
      uri.replace(at, variable.size(), value);
  }
  return uri;
}

/// A resource that a template describes and a client can list.
struct Member {
  Variables variables;
  std::string name, title, description;
};

void add(ResourceList& list, mcp::ResourceTemplate shape, const std::vector<Member>& members) {
  // Shared, because a copy of `read` holds all guides.
  const auto read = std::make_shared<const decltype(shape.read)>(shape.read);
  for (const Member& member : members) {
    mcp::Resource resource;
    resource.uri = expanded(shape.uri_template, member.variables);
    resource.name = member.name;
    resource.title = member.title;
    resource.description = member.description;
    resource.mime_type = shape.mime_type;
    resource.read = [read, uri = resource.uri, variables = member.variables](
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

std::vector<Member> one_per_operator(const operators::Catalog& catalog, const std::string& part,
                                     const std::string& title) {
  std::vector<Member> members;
  for (const Operator& op : catalog.all())
    members.push_back(
        {{{"name", op.name}}, op.name + "/" + part, op.name + ": " + title, op.summary});
  return members;
}

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
  add(list, std::move(shape), one_per_operator(services.catalog, "spec", "specification"));
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
  add(list, std::move(shape), one_per_operator(services.catalog, "reference", "PyTorch reference"));
}

void add_guides(ResourceList& list, const std::vector<Guide>& guides) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "guide://{topic}";
  shape.name = "guide";
  shape.title = "Guide for writing kernels";
  shape.description = "How to write correct and fast kernels, by topic.";
  shape.mime_type = "text/markdown";
  std::vector<std::string> topics;
  std::vector<Member> members;
  for (const Guide& guide : guides) {
    topics.push_back(guide.topic);
    members.push_back({{{"topic", guide.topic}}, guide.topic, guide.title, ""});
  }
  shape.variables = {{"topic", mcp::complete_from(std::move(topics))}};
  shape.read = constant(
      shape.mime_type,
      [guides](const Variables& variables, const RequestContext&) -> Result<std::string> {
        const std::string& topic = variables.at("topic");
        const auto found = std::find_if(guides.begin(), guides.end(),
                                        [&](const Guide& guide) { return guide.topic == topic; });
        if (found != guides.end()) return found->text;
        std::string valid;
        for (const Guide& guide : guides) valid += (valid.empty() ? "" : ", ") + guide.topic;
        return fail(ErrorCode::not_found, "there is no guide with this topic; valid: " +
                                              (valid.empty() ? "none" : valid));
      });
  add(list, std::move(shape), members);
}

// Not listed, because a handle is a secret of the run's client.
void add_scorecards(ResourceList& list, const Services& services) {
  mcp::ResourceTemplate shape;
  shape.uri_template = "run://{run}/scorecard";
  shape.name = "scorecard";
  shape.title = "Scorecard of a run";
  shape.description =
      "Pass@1, Perf@1 and the outcome of each operator, by the handle that `start_run` gave: the "
      "answer of `scorecard`.";
  shape.mime_type = "text/plain";
  shape.read = fresh(shape.mime_type, [tool = scorecard_tool(services)](const Variables& variables,
                                                                        RequestContext& context) {
    return tool_text(tool, {{"run", variables.at("run")}, {"response_format", "detailed"}},
                     context);
  });
  add(list, std::move(shape), {});
}

// Not listed, because there are too many, and a handle is a secret of the job's client.
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
