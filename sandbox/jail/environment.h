// The environment inside the jail: rebuilt from a fixed list. Nothing of the server's own
// environment (keys, tokens, paths) gets in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"

namespace assay::sandbox {

/// "NAME=value" strings: the fixed list without what `added` has, then `added`, then
/// ASSAY_TEMPLATE_LAYERS.
std::vector<std::string> jail_environment(
    const std::vector<std::pair<std::string, std::string>>& added,
    const std::vector<LayerReport>& layers);

/// Becomes the command, with that environment. Returns only when it failed.
Status execute(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& added,
               const std::vector<LayerReport>& layers);

}  // namespace assay::sandbox
