// Prompts: what a person picks in a client (a slash command, say) to set an agent to work. Each
// puts together texts that tools and guides give, and says which tools to call in which order.
// prompts.cc has THE list.
//
//   for (const Prompt& prompt : make_prompts(services, guides)) prompt.text({{"operator",
//   "vector_add"}});
//
// `text` may be called from many threads at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/guides.h"
#include "tools/model/tool.h"
#include "tools/resources/resources.h"

namespace assay::tools {

struct PromptArgument {
  std::string name, description;
  bool required = false;
  Suggest suggest;  // may be empty
};

struct Prompt {
  std::string name, title, description;
  std::vector<PromptArgument> arguments;
  /// One message, from the user. A missing optional argument is as good as an empty one.
  std::function<Result<std::string>(const Values& arguments)> text;
};

std::vector<Prompt> make_prompts(Services& services, const std::vector<operators::Guide>& guides);

}  // namespace assay::tools
