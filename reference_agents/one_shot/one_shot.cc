#include "reference_agents/one_shot/one_shot.h"

#include "reference_agents/core/reply_code.h"
#include "reference_agents/one_shot/prompt.h"

namespace assay::agents {

Result<Attempt> attempt_one_shot(AgentSession& bench, const NumberValues&) {
  const Result<Spec> spec = bench.fetch_spec();
  if (!spec) return fail(spec.error());
  const Result<CompletionReply> reply = bench.ask(one_shot_prompt(*spec));
  if (!reply) return fail(reply.error());
  const std::string code = extract_code(reply->text, spec->entry);
  if (!code.empty()) {
    // What these two say is for the record: the model gets no second chance, and the submission is
    // made in any case.
    for (const char* tool : {"compile", "run_tests"}) {
      if (const auto answer = bench.call(tool, code); !answer) return fail(answer.error());
    }
  }
  return bench.submit(code, "the reply holds no code (stop reason: " +
                                (reply->stop_reason.empty() ? "none given" : reply->stop_reason) +
                                ")");
}

}  // namespace assay::agents
