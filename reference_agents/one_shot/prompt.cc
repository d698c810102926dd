#include "reference_agents/one_shot/prompt.h"

namespace assay::agents {
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
