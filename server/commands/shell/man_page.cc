#include "server/commands/shell/man_page.h"

#include <vector>

#include "base/text.h"

namespace assay::server {
namespace {

struct Fact {
  const char* name;
  const char* meaning;
};

constexpr Fact kVariables[] = {
    {"ASSAY_CONFIG", "the configuration to read instead of the usual files"},
    {"ASSAY_PYTHON", "a Python that has torch and triton, in which jobs run"},
    {"ASSAY_STATE_DIR", "the folder of the store and of caches"},
    {"ASSAY_ROOT", "a tree of operators and of the harness to use instead of the program's own"},
};
constexpr Fact kFiles[] = {
    {"~/.config/assay/assay.toml", "the configuration of a user"},
    {"/etc/assay/server.toml", "the configuration of the service of the Debian package"},
    {"~/.local/state/assay/assay.db", "the store of a user"},
    {"~/.local/share/assay/python", "the Python that `assay setup` makes"},
};
constexpr Fact kStatuses[] = {
    {"0", "success; for eval and check: the submission passed"},
    {"1", "the submission is wrong, or a check failed"},
    {"2", "the submission ended in an error"},
    {"64", "an invalid option or argument"},
    {"65, 66", "a file is damaged or too large, or missing"},
    {"67", "an unknown name"},
    {"69", "something that is needed cannot be used now"},
    {"70", "a defect of Assay"},
    {"71, 73, 76, 77, 78",
     "the address, the store, the safety, the credentials, the configuration"},
};

/// Returns the text so that roff shows each character as it is.
std::string roff(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\\')
      shown += "\\e";
    else if (c == '-')
      shown += "\\-";
    else if (c == '\n')
      shown += ' ';
    else
      shown += c;
  }
  const bool is_request = shown.starts_with('.') || shown.starts_with('\'');
  return (is_request ? "\\&" : "") + shown;
}

std::string entry(const std::string& term, const std::string& meaning) {
  return ".TP\n" + term + "\n" + (meaning.empty() ? "\\&" : roff(meaning)) + "\n";
}

template <std::size_t N>
std::string section(const char* name, const Fact (&facts)[N]) {
  std::string text = std::string(".SH ") + name + "\n";
  for (const Fact& fact : facts) text += entry("\\fB" + roff(fact.name) + "\\fR", fact.meaning);
  return text;
}

std::string synopsis(const CommandEntry& command) {
  std::string text = "\\fBassay " + roff(command.path) + "\\fR";
  for (const CommandOption& argument : command.arguments) {
    const std::string name = "\\fI" + roff(argument.value) + "\\fR";
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + (command.options.empty() ? "" : " [\\fIoptions\\fR]");
}

std::string command_section(const CommandEntry& command) {
  std::string text = ".SS assay " + roff(command.path) + "\n" + synopsis(command) + "\n.PP\n" +
                     roff(command.help) + ".\n";
  for (const CommandOption& argument : command.arguments)
    text += entry("\\fI" + roff(argument.value) + "\\fR", argument.help);
  for (const CommandOption& option : command.options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
    std::string term = join(names, ", ");
    if (!option.choices.empty())
      term += " " + roff(join(option.choices, "|"));
    else if (!option.value.empty())
      term += " \\fI" + roff(option.value) + "\\fR";
    text += entry(term, option.help);
  }
  return text;
}

}  // namespace

std::string man_page(const CommandEntry& assay, const std::string& version) {
  std::string text = ".\\\" Printed by `assay man-page`.\n.TH ASSAY 1 \"\" \"assay " +
                     roff(version) + "\" \"User Commands\"\n.nh\n.SH NAME\nassay \\- " +
                     "MCP server that judges GPU kernels\n.SH SYNOPSIS\n";
  const char* between = "";
  for (const CommandEntry* command : all_commands(assay)) {
    if (command->path.empty() || !command->commands.empty()) continue;
    text += between + synopsis(*command) + "\n";
    between = ".br\n";
  }
  text += ".SH DESCRIPTION\n" + roff(assay.help) +
          ".\n.PP\nThe options of a command can also stand in a configuration; \\fBassay config "
          "show\\fR prints each value and its origin.\n.SH COMMANDS\n";
  for (const CommandEntry* command : all_commands(assay)) {
    if (!command->path.empty()) text += command_section(*command);
  }
  text += section("EXIT STATUS", kStatuses) + section("ENVIRONMENT", kVariables) +
          section("FILES", kFiles);
  return text;
}

}  // namespace assay::server
