// Parses a spec.toml (docs/reference/operator-format.md) into an Operator, and checks that its
// parts fit together. Any bytes give an Operator or one precise error. Pure functions, thread-safe.
//
//   Result<Operator> op = parse_spec(text, "operators/standard/relu/spec.toml");
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::operators {

/// Parses and checks a spec. Sets the fields that the file defines; the catalog sets directory,
/// sources and revision. An error message begins with `file`.
Result<Operator> parse_spec(std::string_view text, const std::string& file);

/// The fewest public cases, and the fewest hidden ones, that an operator may have.
inline constexpr int kMinCasesOfEachVisibility = 3;

/// Checks the relations between the parts of a spec: unique names, axes that every case defines,
/// outputs that come from inout arguments, a signature that matches the arguments, enough cases. An
/// error message begins with line, table and key (":41: [[outputs]] 'y': key 'shape': ..."), so
/// that it can follow the file's name.
Status check_spec(const Operator& op);

/// Returns the only signature that arguments and outputs allow:
/// "f(x: Tensor, eps: float) -> tuple[Tensor, Tensor]".
std::string signature_of(const Operator& op);

}  // namespace assay::operators
