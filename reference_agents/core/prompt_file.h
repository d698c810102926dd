// Prompts are files: reference_agents/AGENT/prompts/NAME.md, with {{places}} that the agent fills.
// What is filled in is not looked through for places again. Pure but for the reading, safe from any
// thread.
//
//   Result<std::string> text = fill_prompt(data_dir / "leader/prompts/round.md", {{"code", code},
//   {"verdict", verdict}});
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::agents {

using PromptValues = std::map<std::string, std::string>;

/// invalid_argument for a place without a value or a value without a place, naming it.
Result<std::string> fill_places(std::string_view text, const PromptValues& values);
/// Also io, when the file cannot be read.
Result<std::string> fill_prompt(const std::filesystem::path& file, const PromptValues& values);

}  // namespace assay::agents
