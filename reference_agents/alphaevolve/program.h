// One version that alphaevolve evaluated. Value.
#pragma once

#include <string>

#include "reference_agents/core/evaluation.h"

namespace assay::agents {

struct Program {
  std::string code;
  Evaluation evaluation;
};

}  // namespace assay::agents
