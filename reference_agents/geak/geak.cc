#include "reference_agents/geak/geak.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "reference_agents/agent/code_block.h"
#include "reference_agents/agent/remarks.h"
#include "reference_agents/geak/ancestors.h"
#include "reference_agents/geak/example.h"

namespace assay::agents {
namespace {

const char* const kSystemFile = "geak/prompts/system.md";
const char* const kNoPlan = "Write a version that is right first of all.";

/// A version that fails and is being mended.
struct Failing {
  std::string code;
  Evaluation evaluation;
  std::int64_t repairs = 0;  // that were tried and failed
};

/// One instance: iterations one after another, with a pool of its own.
class Instance {
 public:
  Instance(Workbench& bench, const Spec& spec, const std::string& system, const std::string& example, const NumberValues& options)
      : bench_(bench),
        spec_(spec),
        system_(system),
        example_(example),
        max_debug_(static_cast<std::int64_t>(options.at("max_debug"))),
        ancestors_(static_cast<std::size_t>(options.at("ancestors"))) {}

  /// False when it has nothing more to do.
  Result<bool> iterate() {
    Result<std::string> code = failing_ ? repaired() : generated();
    if (!code) return fail(code.error());
    if (code->empty()) {
      if (Status noted = bench_.note("the reply holds no code"); !noted) return fail(noted.error());
      return true;
    }
    const Result<Evaluation> evaluation = bench_.evaluate(*code);
    if (!evaluation) return fail(evaluation.error());
    if (best_code_.empty() || is_better(*evaluation, best_)) {
      best_code_ = *code;
      best_ = *evaluation;
    }
    if (!is_worth_more_work(*evaluation)) {
      if (Status remarked = bench_.remark(why_no_more_work(*evaluation)); !remarked) return fail(remarked.error());
      return false;
    }
    const Status took = evaluation->level == Level::correct ? succeeded(*code, *evaluation) : failed(*code, *evaluation);
    if (!took) return fail(took.error());
    return true;
  }

  const std::string& best_code() const { return best_code_; }
  const Evaluation& best() const { return best_; }

 private:
  Result<std::string> answer(const char* file, PromptValues values) {
    values["operator"] = spec_.operator_name;
    values["spec"] = spec_.text;
    const Result<std::string> text = bench_.prompt(std::string("geak/prompts/") + file, values);
    if (!text) return fail(text.error());
    const Result<CompletionReply> reply = bench_.ask(system_, *text);
    if (!reply) return fail(reply.error());
    return reply->text;
  }

  Result<std::string> code_from(const Result<std::string>& reply) const {
    if (!reply) return fail(reply.error());
    return extract_code(*reply, spec_.entry);
  }

  Result<std::string> generated() {
    if (ancestors_.empty()) return code_from(answer("generate.md", {{"plan", plan_}, {"example", example_}}));
    const Result<std::string> plan = answer("optimize.md", {{"ancestors", ancestors_.text()}, {"dropped", dropped_}});
    if (!plan) return fail(plan.error());
    plan_ = *plan;
    const Ancestor& fastest = ancestors_.fastest();
    return code_from(answer("improve.md", {{"code", fastest.code}, {"verdict", fastest.evaluation.feedback}, {"plan", plan_}}));
  }

  Result<std::string> repaired() {
    const Result<std::string> reflection = answer("reflect.md", {{"code", failing_->code}, {"verdict", failing_->evaluation.feedback}});
    if (!reflection) return fail(reflection.error());
    return code_from(answer("repair.md", {{"code", failing_->code}, {"verdict", failing_->evaluation.feedback}, {"reflection", *reflection}}));
  }

  Status failed(const std::string& code, const Evaluation& evaluation) {
    const std::int64_t repairs = failing_ ? failing_->repairs + 1 : 0;
    failing_ = Failing{code, evaluation, repairs};
    if (repairs < max_debug_) return {};
    failing_.reset();
    dropped_ += "- " + plan_ + " (ended with: " + metrics_text(evaluation) + ")\n";
    plan_ = "An earlier line of attack could not be made to work and was dropped (" + metrics_text(evaluation) +
            "). Take another one: other tiling, other order of the work, simpler code.";
    return bench_.note("after " + std::to_string(repairs) + " failed repairs this line of attack is dropped");
  }

  Status succeeded(const std::string& code, const Evaluation& evaluation) {
    failing_.reset();
    const Result<std::string> reflection = answer("consider.md", {{"code", code}, {"metrics", metrics_text(evaluation)}, {"verdict", evaluation.feedback}});
    if (!reflection) return fail(reflection.error());
    ancestors_.add({code, evaluation, *reflection});
    return bench_.note("joined the pool: " + metrics_text(evaluation));
  }

  Workbench& bench_;
  const Spec& spec_;
  const std::string& system_;
  const std::string& example_;
  const std::int64_t max_debug_;
  Ancestors ancestors_;
  std::optional<Failing> failing_;
  std::string plan_ = kNoPlan;
  std::string dropped_;
  std::string best_code_;
  Evaluation best_;
};

}  // namespace

const std::vector<NumberOption>& geak_options() {
  static const std::vector<NumberOption> list = {
      {"iterations", 9, 1, 9, "versions of one instance; each may cost one of the track's 10 tests", true},
      {"instances", 1, 1, 9, "begun anew one after another, sharing the track's budgets", true},
      {"max_debug", 5, 1, 9, "failed repairs after which a line of attack is dropped", true},
      {"ancestors", 5, 1, 20, "correct versions shown to the optimizer", true},
      {"example", 0, 0, 1, "1: show a similar kernel, where the server has search_examples", true},
  };
  return list;
}

Result<Attempt> attempt_geak(Workbench& bench, const NumberValues& options) {
  const Result<Spec> spec = bench.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<std::string> system = bench.prompt(kSystemFile, {});
  if (!system) return fail(system.error());
  std::string example;
  if (options.at("example") > 0) {
    const Result<std::string> found = similar_example(bench, *spec);
    if (!found) return fail(found.error());
    example = *found;
  }
  std::string best_code;
  Evaluation best;
  bool more = true;
  for (auto instances = static_cast<std::int64_t>(options.at("instances")); instances > 0 && more; --instances) {
    Instance instance(bench, *spec, *system, example, options);
    for (auto iterations = static_cast<std::int64_t>(options.at("iterations")); iterations > 0 && more; --iterations) {
      const Result<bool> iterated = instance.iterate();
      if (!iterated) return fail(iterated.error());
      more = *iterated;
    }
    if (instance.best_code().empty() || (!best_code.empty() && !is_better(instance.best(), best))) continue;
    best_code = instance.best_code();
    best = instance.best();
  }
  return bench.submit(best_code, "no reply holds code");
}

}  // namespace assay::agents
