// What an agent knows of an operator: `fetch_spec`'s answer, word for word. No test, oracle or
// hidden case can leak, because the agent never has them. Value.
#pragma once

#include <string>

namespace assay::agents {

struct Spec {
  std::string operator_name;
  std::string entry;        // the function to define; empty when the server did not say so in its
                            // structured answer
  std::string dialect;      // "triton", "gluon", "tlx"; empty likewise
  std::string text;         // fetch_spec's answer
  std::string family = {};  // "gemm", "scan", ...; empty likewise
};

}  // namespace assay::agents
