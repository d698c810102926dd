// The environment variables inside the jail. They are rebuilt from a fixed list, so that no
// variable of the server (keys, tokens, paths) gets in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"

namespace assay::sandbox {

/// Returns "NAME=value" strings: the fixed list without the names in `added`, then `added`, then
/// ASSAY_TEMPLATE_LAYERS.
std::vector<std::string> jail_environment(
    const std::vector<std::pair<std::string, std::string>>& added,
    const std::vector<LayerReport>& layers);

/// Executes the command with that environment. Returns only if that failed.
Status execute(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& added,
               const std::vector<LayerReport>& layers);

}  // namespace assay::sandbox
