// Parses a spec.toml (docs/reference/operator-format.md) into an Operator. Total: any bytes give an
// Operator or one precise error. Pure, hence thread-safe.
//
//   Result<Operator> op = parse_spec(text, "operators/standard/relu/spec.toml");
//
// Sets everything that the file says; directory, sources and revision are the catalog's work.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::operators {

/// `file` is what messages call it.
Result<Operator> parse_spec(std::string_view text, const std::string& file);

}  // namespace assay::operators
