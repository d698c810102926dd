#include "server/commands/shell/shell.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "server/app/exit_status.h"
#include "server/commands/shell/completion.h"
#include "server/commands/shell/man_page.h"

namespace assay::server {
namespace {

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return print_error("completion", kUnavailable, "cannot write to standard output");
  return kPass;
}

}  // namespace

void add_shell(CLI::App& app, int& status) {
  std::vector<std::string> names;
  for (const Shell shell : kShells) names.emplace_back(to_string(shell));
  auto wanted = std::make_shared<std::string>();
  CLI::App* completion_command =
      app.add_subcommand("completion", "Print the completion of the command line for a shell");
  completion_command->add_option("shell", *wanted, "the shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(names));
  completion_command->callback([&app, wanted, &status] {
    const auto* const shell = std::find_if(kShells.begin(), kShells.end(),
                                           [&](Shell one) { return to_string(one) == *wanted; });
    status = print(completion(command_table(app), *shell));
  });
  CLI::App* man = app.add_subcommand("man-page", "Print the manual page in the language man(7)");
  man->callback([&app, &status] { status = print(man_page(command_table(app), ASSAY_VERSION)); });
}

}  // namespace assay::server
