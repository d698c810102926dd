// Adds `assay operators new`, which writes the folder of a new operator.
//
//   CLI::App* operators = app.add_subcommand("operators", "...");
//   auto suite = std::make_shared<std::string>();
//   add_new_operator(*operators, suite, status);
//
// Not thread-safe: the command line is read on one thread.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::server {

/// The function that an operator asks for: "swish_gate(x: Tensor, beta: float) -> Tensor".
struct Signature {
  std::string name;
  struct Parameter {
    std::string name, type;  // the type is Tensor, int, float or bool
  };
  std::vector<Parameter> parameters;
};

/// Reads a signature. Error: invalid_argument; the message names the valid types.
Result<Signature> read_signature(const std::string& text);

/// Returns the inputs of an operator of a simple kind ("elementwise", "rows" or "matmul"). The
/// tensors have the dtype `dtype`, such as "f32". Error: invalid_argument if the kind does not take
/// these parameters, or if kind or dtype are unknown.
Result<std::vector<sandbox::CheckArgument>> inputs_of_kind(const std::string& kind,
                                                           const std::string& dtype,
                                                           const Signature& signature);

/// Adds the command to `group`. `suite` is the value of the group's option --suite.
void add_new_operator(CLI::App& group, std::shared_ptr<std::string> suite, int& status);

}  // namespace assay::server
