#include "reference_agents/geak/instance.h"

#include <algorithm>
#include <utility>

#include "reference_agents/core/evaluation.h"
#include "reference_agents/core/reply_code.h"

namespace assay::agents {

Result<Instance::Next> Instance::iterate() {
  const Result<std::string> code = failing_ ? repaired() : generated();
  if (!code) return fail(code.error());
  if (code->empty()) {
    if (Status noted = session_.note("the reply holds no code"); !noted) return fail(noted.error());
    return Next::iterate;
  }
  const Result<Evaluation> evaluation = session_.evaluate(*code, parts_.first);
  if (!evaluation) return fail(evaluation.error());
  if (best_code_.empty() || is_better(*evaluation, best_)) {
    best_code_ = *code;
    best_ = *evaluation;
  }
  if (!is_worth_more_work(*evaluation)) {
    if (Status remarked = session_.remark(why_no_more_work(*evaluation)); !remarked)
      return fail(remarked.error());
    return Next::end_attempt;
  }
  const bool correct = evaluation->level == Level::correct;
  if (correct && !parts_.optimize) {
    if (Status noted = session_.note("correct, which ends an instance without an optimizer: " +
                                     metrics_text(*evaluation));
        !noted)
      return fail(noted.error());
    return Next::end_instance;
  }
  if (Status took = correct ? succeeded(*code, *evaluation) : failed(*code, *evaluation); !took)
    return fail(took.error());
  return Next::iterate;
}

Result<CompletionReply> Instance::reply_to(const char* file, PromptValues values) {
  values["operator"] = spec_.operator_name;
  values["spec"] = spec_.text;
  const Result<std::string> text = session_.prompt(std::string("geak/prompts/") + file, values);
  if (!text) return fail(text.error());
  CompletionRequest request;
  request.system = parts_.system;
  request.messages.push_back({"user", *text});
  request.temperature = parts_.temperature;
  return session_.ask(std::move(request));
}

Result<std::string> Instance::answer(const char* file, PromptValues values) {
  const Result<CompletionReply> reply = reply_to(file, std::move(values));
  if (!reply) return fail(reply.error());
  return reply->text;
}

Result<std::string> Instance::code_from(const char* file, PromptValues values) {
  const Result<CompletionReply> reply = reply_to(file, std::move(values));
  if (!reply) return fail(reply.error());
  return code_of(*reply, spec_.entry);
}

Result<std::string> Instance::generated() {
  if (ancestors_.empty())
    return code_from("generate.md", {{"plan", plan_}, {"example", parts_.example}});
  const Result<std::string> plan =
      answer("optimize.md", {{"ancestors", ancestors_.text()}, {"dropped", dropped_}});
  if (!plan) return fail(plan.error());
  plan_ = *plan;
  const Ancestor& fastest = ancestors_.fastest();
  return code_from(
      "improve.md",
      {{"code", fastest.code}, {"verdict", fastest.evaluation.feedback}, {"plan", plan_}});
}

Result<std::string> Instance::repaired() {
  PromptValues values = {{"code", failing_->code}, {"verdict", failing_->evaluation.feedback}};
  std::string found;
  if (parts_.reflect) {
    const Result<std::string> reflection = answer("reflect.md", values);
    if (!reflection) return fail(reflection.error());
    found = "What a colleague found: " + *reflection + "\n\n";
  }
  values["reflection"] = found;
  return code_from("repair.md", std::move(values));
}

Status Instance::failed(const std::string& code, const Evaluation& evaluation) {
  const std::int64_t repairs = failing_ ? failing_->repairs + 1 : 0;
  failing_ = Failing{code, evaluation, repairs};
  if (parts_.max_debug == 0 || repairs < parts_.max_debug) return {};
  failing_.reset();
  dropped_ += "- " + plan_ + " (ended with: " + metrics_text(evaluation) + ")\n";
  plan_ = "An earlier approach did not work and was dropped (" + metrics_text(evaluation) +
          "). Take another one: other tiling, other order of the work, simpler code.";
  return session_.note("this approach is dropped after " + std::to_string(repairs) +
                       " failed repairs");
}

Status Instance::succeeded(const std::string& code, const Evaluation& evaluation) {
  failing_.reset();
  std::string reflection;
  if (parts_.reflect) {
    const Result<std::string> thought = answer(
        "consider.md",
        {{"code", code}, {"metrics", metrics_text(evaluation)}, {"verdict", evaluation.feedback}});
    if (!thought) return fail(thought.error());
    reflection = *thought;
  }
  ancestors_.add({code, evaluation, reflection});
  return session_.note("joined the pool: " + metrics_text(evaluation));
}

void Ancestors::add(Ancestor ancestor) {
  const auto same = [&](const Ancestor& other) { return other.code == ancestor.code; };
  if (std::any_of(pool_.begin(), pool_.end(), same)) return;
  const auto perf = [](const Ancestor& entry) { return entry.evaluation.perf.value_or(0); };
  const auto place =
      std::upper_bound(pool_.begin(), pool_.end(), ancestor,
                       [&](const Ancestor& a, const Ancestor& b) { return perf(a) < perf(b); });
  pool_.insert(place, std::move(ancestor));
  if (pool_.size() > most_) pool_.erase(pool_.begin());
}

std::string Ancestors::text() const {
  std::string text;
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    text +=
        "Version " + std::to_string(i + 1) + " of " + std::to_string(pool_.size()) + " (" +
        metrics_text(pool_[i].evaluation) + "):\n\n```python\n" + pool_[i].code + "```\n\n" +
        (pool_[i].reflection.empty() ? ""
                                     : "What was thought of it: " + pool_[i].reflection + "\n\n");
  }
  return text;
}

}  // namespace assay::agents
