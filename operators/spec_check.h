// What must hold between the parts of a spec, beyond each key on its own: unique names, axes that
// every case defines, outputs that come from inout arguments, a signature that says the same as the
// arguments, enough cases. Pure, thread-safe.
//
//   if (Status status = check_spec(op); !status) ...   // ":41: [[outputs]] 'y': key 'shape': ..."
#pragma once

#include "base/result.h"
#include "operators/catalog.h"

namespace assay::operators {

inline constexpr int kMinCasesOfEachVisibility = 3;

/// The message begins with line, table and key, to be put right behind the file's name.
Status check_spec(const Operator& op);

/// The one signature that the arguments and outputs allow: "f(x: Tensor, eps: float) ->
/// tuple[Tensor, Tensor]".
std::string signature_of(const Operator& op);

}  // namespace assay::operators
