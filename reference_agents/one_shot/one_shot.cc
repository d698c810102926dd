#include "reference_agents/one_shot/one_shot.h"

#include "reference_agents/core/reply_code.h"

namespace assay::agents {

Result<Attempt> attempt_one_shot(AgentSession& session, const NumberValues&) {
  const Result<Spec> spec = session.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<CompletionReply> reply = session.ask(one_shot_prompt(*spec));
  if (!reply) return fail(reply.error());
  const std::string code = code_of(*reply, spec->entry);
  if (!code.empty()) {
    // The answers of these tools only go to the transcript. The model does not see them, and the
    // code is submitted in any case.
    for (const char* tool : {"compile", "run_tests"}) {
      if (const auto answer = session.call(tool, code); !answer) return fail(answer.error());
    }
  }
  return session.submit(code, why_no_code(*reply));
}

namespace {

constexpr const char* kSystem =
    "You write GPU kernels in Triton and its dialects. You get the specification of one operator "
    "and answer with one complete Python "
    "module. You have a single attempt: nobody will report errors back to you, so check masks, "
    "dtypes, strides, numerical stability and "
    "every edge that the specification names before you answer.";

constexpr const char* kRules =
    "Rules:\n"
    "- Define the entry function with exactly the signature given; it returns the outputs in the "
    "order given.\n"
    "- The computation itself runs in kernels of the dialect named; torch may only allocate, view "
    "and launch.\n"
    "- Import only torch, triton and the standard library. No test code, no prints, no reading of "
    "files.\n"
    "- It must be right for every shape that the specification allows, and then fast.\n"
    "Answer with a short explanation and one ```python block that holds the whole module.\n";

}  // namespace

CompletionRequest one_shot_prompt(const Spec& spec) {
  CompletionRequest request;
  request.system = kSystem;
  std::string text = "Operator: " + spec.operator_name + "\n\n" + spec.text;
  if (!text.ends_with('\n')) text += '\n';
  request.messages.push_back({"user", text + "\n" + kRules});
  return request;
}

}  // namespace assay::agents
