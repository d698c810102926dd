// Parses a spec.toml (docs/reference/operator-format.md) into an Operator. Any bytes give an
// Operator or one precise error. A pure function, thread-safe.
//
//   Result<Operator> op = parse_spec(text, "operators/standard/relu/spec.toml");
//
// Sets the fields that the file defines; the catalog sets directory, sources and revision.
//
// Checks the relations between the parts of a spec: unique names, axes that every case defines,
// outputs that come from inout arguments, a signature that matches the arguments, enough cases.
// Pure functions, thread-safe.
//
//   if (Status status = check_spec(op); !status) ...   // ":41: [[outputs]] 'y': key 'shape': ..."
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::operators {

/// Error messages begin with `file`.
Result<Operator> parse_spec(std::string_view text, const std::string& file);

inline constexpr int kMinCasesOfEachVisibility = 3;

/// An error message begins with line, table and key, so that it can follow the file's name.
Status check_spec(const Operator& op);

/// The only signature that arguments and outputs allow: "f(x: Tensor, eps: float) ->
/// tuple[Tensor, Tensor]".
std::string signature_of(const Operator& op);

}  // namespace assay::operators
