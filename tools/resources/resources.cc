#include "tools/resources/resources.h"

#include <algorithm>
#include <utility>

#include "tools/answer/reference_source.h"
#include "tools/registry.h"
#include "tools/resources/tool_text.h"

namespace assay::tools {
namespace {

using operators::Guide;
using operators::Operator;

constexpr std::int64_t kArtifactBytes = 14'000;  // what read_artifact gives at most

Suggest names_of(const operators::Catalog& catalog) {
  return [&catalog](const Values&) {
    std::vector<std::string> names;
    for (const Operator& op : catalog.all()) names.push_back(op.name);
    return names;
  };
}

std::vector<ListedResource> one_per_operator(const operators::Catalog& catalog,
                                             const std::string& part, const std::string& what) {
  std::vector<ListedResource> listed;
  for (const Operator& op : catalog.all())
    listed.push_back(
        {{{"name", op.name}}, op.name + "/" + part, op.name + ": " + what, op.summary});
  return listed;
}

ResourceFamily specs(Services& services) {
  ResourceFamily family;
  family.uri_template = "operator://{name}/spec";
  family.name = "operator_spec";
  family.title = "Specification of an operator";
  family.description =
      "Description, signature, reference, public cases, tolerance and limits: what `fetch_spec` "
      "answers.";
  family.mime_type = "text/plain";
  family.constant = true;
  family.suggest = {{"name", names_of(services.catalog)}};
  family.listed = one_per_operator(services.catalog, "spec", "specification");
  family.read = [tool = fetch_spec_tool(services)](const Values& values) {
    return tool_text(tool, {{"operator", values.at("name")}, {"response_format", "detailed"}});
  };
  return family;
}

ResourceFamily references(Services& services) {
  ResourceFamily family;
  family.uri_template = "operator://{name}/reference";
  family.name = "operator_reference";
  family.title = "PyTorch reference of an operator";
  family.description = "The Python source that submissions are compared with.";
  family.mime_type = "text/x-python";
  family.constant = true;
  family.suggest = {{"name", names_of(services.catalog)}};
  family.listed = one_per_operator(services.catalog, "reference", "PyTorch reference");
  family.read = [&catalog = services.catalog](const Values& values) -> Result<std::string> {
    const Operator* op = catalog.find(values.at("name"));
    if (op == nullptr) return fail(catalog.unknown(values.at("name")));
    return shown_reference(op->reference_source);
  };
  return family;
}

ResourceFamily guide_family(const std::vector<Guide>& guides) {
  ResourceFamily family;
  family.uri_template = "guide://{topic}";
  family.name = "guide";
  family.title = "Guide for writing kernels";
  family.description = "What makes kernels right and fast, by topic.";
  family.mime_type = "text/markdown";
  family.constant = true;
  std::vector<std::string> topics;
  for (const Guide& guide : guides) {
    topics.push_back(guide.topic);
    family.listed.push_back({{{"topic", guide.topic}}, guide.topic, guide.title, ""});
  }
  family.suggest = {{"topic", [topics](const Values&) { return topics; }}};
  family.read = [guides](const Values& values) -> Result<std::string> {
    const std::string& topic = values.at("topic");
    const auto found = std::find_if(guides.begin(), guides.end(),
                                    [&](const Guide& guide) { return guide.topic == topic; });
    if (found != guides.end()) return found->text;
    std::string valid;
    for (const Guide& guide : guides) valid += (valid.empty() ? "" : ", ") + guide.topic;
    return fail(ErrorCode::not_found,
                "there is no guide of this topic; valid: " + (valid.empty() ? "none" : valid));
  };
  return family;
}

ResourceFamily scorecards(Services& services) {
  ResourceFamily family;
  family.uri_template = "run://{run}/scorecard";
  family.name = "scorecard";
  family.title = "Scorecard of a run";
  family.description =
      "Pass@1, Perf@1 and the outcome per operator, by the handle that `start_run` gave: what "
      "`scorecard` answers.";
  family.mime_type = "text/plain";
  family.read = [tool = scorecard_tool(services)](const Values& values) {
    return tool_text(tool, {{"run", values.at("run")}, {"response_format", "detailed"}});
  };
  return family;
}

ResourceFamily artifacts(Services& services) {
  ResourceFamily family;
  family.uri_template = "artifact://{id}";
  family.name = "artifact";
  family.title = "Artifact of a job";
  family.description =
      "The beginning of PTX, a launch plan or a log, by its handle; `read_artifact` reads on and "
      "searches.";
  family.mime_type = "text/plain";
  family.read = [tool = read_artifact_tool(services)](const Values& values) {
    return tool_text(tool, {{"artifact", values.at("id")}, {"limit", kArtifactBytes}});
  };
  return family;
}

}  // namespace

std::vector<ResourceFamily> make_resources(Services& services, const std::vector<Guide>& guides) {
  return {specs(services), references(services), guide_family(guides), scorecards(services),
          artifacts(services)};
}

}  // namespace assay::tools
