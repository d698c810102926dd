// Writes the completion of the command line for a shell, from the table of the commands. Pure
// functions, thread-safe.
//
//   const std::string script = completion(command_table(app), Shell::bash);
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "server/commands/shell/command_table.h"

namespace assay::server {

enum class Shell { bash, zsh, fish };
inline constexpr std::array kShells{Shell::bash, Shell::zsh, Shell::fish};
std::string_view to_string(Shell shell);

std::string completion(const CommandEntry& assay, Shell shell);

}  // namespace assay::server
