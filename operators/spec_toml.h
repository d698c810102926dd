// Parses a spec.toml (docs/reference/operator-format.md) into an Operator and checks the operator
// for consistency. For any input bytes, the result is an Operator or one precise error. The
// functions have no state and are thread-safe.
//
//   Result<Operator> op = parse_spec(text, "operators/standard/relu/spec.toml");
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::operators {

/// Parses and checks a spec. Sets only the fields that the file defines: the catalog sets the
/// directory, the sources and the revision. An error message begins with `file`.
Result<Operator> parse_spec(std::string_view text, const std::string& file);

/// Returns the names that the key `family` can have.
std::vector<std::string_view> family_names();

/// The minimum number of public cases, and also of hidden cases, that an operator must have. An
/// imported operator needs only one public case.
inline constexpr int kMinCasesOfEachVisibility = 3;

/// Checks that the parts of a spec agree: names are unique, every case defines all axes, every
/// inout argument has an output, the signature matches the arguments, and there are enough cases.
/// An error message begins with the line, table and key (":41: [[outputs]] 'y': key 'shape': ..."),
/// so the caller can put the file's name in front of it.
Status check_spec(const Operator& op);

/// Returns the signature that the entry function must have, derived from the arguments and outputs:
/// "f(x: Tensor, eps: float) -> tuple[Tensor, Tensor]".
std::string signature_of(const Operator& op);

}  // namespace assay::operators
