// Parses a spec.toml (docs/reference/operator-format.md) into an Operator. Any bytes give an
// Operator or one precise error. A pure function, thread-safe.
//
//   Result<Operator> op = parse_spec(text, "operators/standard/relu/spec.toml");
//
// Sets the fields that the file defines; the catalog sets directory, sources and revision.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::operators {

/// Error messages begin with `file`.
Result<Operator> parse_spec(std::string_view text, const std::string& file);

}  // namespace assay::operators
