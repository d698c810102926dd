#include "reference_agents/geak/geak.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "reference_agents/geak/instance.h"
#include "reference_agents/geak/knowledge.h"

namespace assay::agents {
namespace {

constexpr double kSeveralInstancesTemperature = 1;

Result<GeakParts> make_parts(AgentSession& session, const Spec& spec, const NumberValues& options) {
  const auto is_on = [&](const char* name) { return options.at(name) > 0; };
  GeakParts parts;
  Result<std::string> system = session.prompt("geak/prompts/system.md", {});
  if (!system) return fail(system.error());
  parts.system = *system;
  if (is_on("knowledge")) {
    const Result<std::string> knowledge = knowledge_for(session, spec);
    if (!knowledge) return fail(knowledge.error());
    parts.system += "\n" + *knowledge;
  }
  if (is_on("example")) {
    Result<std::string> example = similar_example(session, spec);
    if (!example) return fail(example.error());
    parts.example = *example;
  }
  parts.first = is_on("cascade") ? FirstStage::compile : FirstStage::run_tests;
  parts.reflect = is_on("reflect");
  parts.optimize = is_on("optimize");
  parts.max_debug = static_cast<std::int64_t>(options.at("max_debug"));
  parts.ancestors = static_cast<std::size_t>(options.at("ancestors"));
  if (options.at("instances") > 1) parts.temperature = kSeveralInstancesTemperature;
  return parts;
}

/// Runs one iteration of each instance whose search is not over. Returns false if all searches are
/// over.
Result<bool> go_round(std::vector<Instance>& instances, std::vector<bool>& over) {
  bool more = false;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (over[i]) continue;
    const Result<Instance::Next> next = instances[i].iterate();
    if (!next) return fail(next.error());
    if (*next == Instance::Next::end_attempt) return false;
    over[i] = *next == Instance::Next::end_instance;
    more = more || !over[i];
  }
  return more;
}

}  // namespace

const std::vector<NumberOption>& geak_options() {
  static const std::vector<NumberOption> list = {
      {"iterations", 9, 1, 100,
       "versions of one instance; each can cost one of the track's tests (iterative: 10, scaled: "
       "100)",
       true},
      {"instances", 1, 1, 100, "independent searches that take turns and share the track's budgets",
       true},
      {"max_debug", 5, 0, 9, "failed repairs after which an approach is dropped; 0: never", true},
      {"ancestors", 5, 1, 20, "correct versions that the optimizer sees; 1: only the fastest",
       true},
      {"reflect", 1, 0, 1, "0: no reflector; repairs see only the verdict", true},
      {"optimize", 1, 0, 1, "0: no optimizer; the first correct version ends an instance", true},
      {"cascade", 1, 0, 1, "0: versions are tested without a separate compilation", true},
      {"knowledge", 0, 0, 1, "1: prompts hold guides and hardware facts from the server", true},
      {"example", 0, 0, 1, "1: prompts show a similar kernel, if the server has search_examples",
       true},
  };
  return list;
}

Result<Attempt> attempt_geak(AgentSession& session, const NumberValues& options) {
  const Result<Spec> spec = session.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<GeakParts> parts = make_parts(session, *spec, options);
  if (!parts) return fail(parts.error());
  const auto count = static_cast<std::size_t>(options.at("instances"));
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < count; ++i) instances.emplace_back(session, *spec, *parts);
  std::vector<bool> over(count, false);
  Result<bool> more = true;
  for (auto iterations = static_cast<std::int64_t>(options.at("iterations"));
       iterations > 0 && *more; --iterations) {
    more = go_round(instances, over);
    if (!more) return fail(more.error());
  }
  const Instance* best = nullptr;
  for (const Instance& instance : instances) {
    if (!instance.best_code().empty() &&
        (best == nullptr || is_better(instance.best(), best->best())))
      best = &instance;
  }
  return session.submit(best == nullptr ? "" : best->best_code(), "no reply holds code");
}

}  // namespace assay::agents
