// Writes the manual page of `assay`, in the language man(7), from the table of the commands. Pure
// function, thread-safe.
//
//   const std::string page = man_page(command_table(app), "0.1.0");
#pragma once

#include <string>

#include "server/commands/shell/command_table.h"

namespace assay::server {

std::string man_page(const CommandEntry& assay, const std::string& version);

}  // namespace assay::server
