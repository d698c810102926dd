#include "server/commands/shell/completion.h"

#include <cstddef>
#include <vector>

#include "base/text.h"

namespace assay::server {
namespace {

constexpr std::size_t kMostHelpBytes = 100;
constexpr const char* kHeader =
    " Completion of the command line of `assay`, printed by `assay completion";

/// Returns the text in single quotes. `quote` is how the shell writes a quote between them.
std::string quoted(std::string_view text, const char* quote) {
  std::string all = "'";
  for (const char c : text) {
    if (c == '\'')
      all += quote;
    else
      all += c == '\n' ? ' ' : c;
  }
  return all + "'";
}

std::string short_help(const std::string& help) { return cut_end(help, kMostHelpBytes); }

/// Returns how a command line can end before a value of the option: "export dataset --sources".
std::vector<std::string> patterns_of(const CommandEntry& command, const CommandOption& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : option.names) patterns.push_back(command.path + " " + name);
  return patterns;
}

/// Returns the lines of a `case` that knows which words are commands: `"export dataset") ...`.
std::string command_patterns(const CommandEntry& assay) {
  std::vector<std::string> patterns;
  for (const CommandEntry* command : all_commands(assay)) {
    if (!command->path.empty()) patterns.push_back("\"" + command->path + "\"");
  }
  return join(patterns, " | ");
}

std::string bash(const CommandEntry& assay) {
  std::string values, words;
  for (const CommandEntry* command : all_commands(assay)) {
    std::vector<std::string> names;
    for (const CommandEntry& inner : command->commands) names.push_back(inner.name);
    for (const CommandOption& option : command->options) {
      for (const std::string& name : option.names) names.push_back(name);
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& pattern : patterns_of(*command, option))
        patterns.push_back("\"" + pattern + "\"");
      values += "    " + join(patterns, " | ") + ") " +
                (option.choices.empty() ? "files=1"
                                        : "words=" + quoted(join(option.choices, " "), "'\\''")) +
                " ;;\n";
    }
    words += "    \"" + command->path + "\") words=" + quoted(join(names, " "), "'\\''") + " ;;\n";
  }
  return std::string("#") + kHeader + " bash`.\n" + R"(_assay() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local chain="" next words="" files="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next=${chain:+$chain }${COMP_WORDS[i]}
    case $next in
      )" +
         command_patterns(assay) + R"() chain=$next ;;
    esac
  done
  case "$chain $before" in
)" + values +
         R"(    *) files=none ;;
  esac
  if [[ $files == none ]]; then
    case $chain in
)" + words +
         R"(    esac
    [[ $current == -* ]] || files=1
  fi
  COMPREPLY=()
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ $files != 1 || ${#COMPREPLY[@]} -gt 0 ]] \
    || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _assay assay
)";
}

std::string zsh(const CommandEntry& assay) {
  const auto pair = [](const std::string& name, const std::string& help) {
    std::string text = name + ":";
    for (const char c : short_help(help)) {
      if (c == ':' || c == '\\') text += '\\';
      text += c;
    }
    return quoted(text, "'\\''");
  };
  std::string values, words;
  for (const CommandEntry* command : all_commands(assay)) {
    std::vector<std::string> commands, options;
    for (const CommandEntry& inner : command->commands)
      commands.push_back(pair(inner.name, inner.help));
    for (const CommandOption& option : command->options) {
      for (const std::string& name : option.names) options.push_back(pair(name, option.help));
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& pattern : patterns_of(*command, option))
        patterns.push_back(quoted(pattern, "'\\''"));
      values += "    " + join(patterns, " | ") + ") " +
                (option.choices.empty() ? "_files" : "compadd -- " + join(option.choices, " ")) +
                "; return ;;\n";
    }
    words += "    " + quoted(command->path, "'\\''") + ")\n      commands=(" + join(commands, " ") +
             ")\n      options=(" + join(options, " ") + ") ;;\n";
  }
  return std::string("#compdef assay\n#") + kHeader + " zsh`.\n" + R"(_assay() {
  local chain='' next word
  local -a commands options
  for word in ${words[2,CURRENT-1]}; do
    next=${chain:+$chain }$word
    case $next in
      )" +
         command_patterns(assay) + R"() chain=$next ;;
    esac
  done
  case "$chain ${words[CURRENT-1]}" in
)" + values +
         R"(  esac
  case $chain in
)" + words +
         R"(  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe -o option options
  elif (( ${#commands} )); then
    _describe command commands
  else
    _files
  fi
}
if [[ $funcstack[1] == _assay ]]; then _assay "$@"; else compdef _assay assay; fi
)";
}

std::string fish(const CommandEntry& assay) {
  const auto text = [](const std::string& one) {
    std::string escaped;
    for (const char c : one) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return quoted(escaped, "\\'");
  };
  std::string lines;
  for (const CommandEntry* command : all_commands(assay)) {
    const std::string here = "complete -c assay -n '__assay_at \"" + command->path + "\"' ";
    for (const CommandEntry& inner : command->commands)
      lines += here + "-f -a " + inner.name + " -d " + text(short_help(inner.help)) + "\n";
    for (const CommandOption& option : command->options) {
      std::string line = here;
      for (const std::string& name : option.names)
        line +=
            name.starts_with("--") ? "-l " + name.substr(2) + " " : "-s " + name.substr(1) + " ";
      if (!option.choices.empty())
        line += "-x -a " + text(join(option.choices, " ")) + " ";
      else if (!option.value.empty())
        line += "-r ";
      lines += line + "-d " + text(short_help(option.help)) + "\n";
    }
  }
  std::vector<std::string> chains;
  for (const CommandEntry* command : all_commands(assay)) {
    if (!command->path.empty()) chains.push_back(text(command->path));
  }
  return std::string("#") + kHeader + " fish`.\n" + R"(function __assay_at
    set -l chain ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$chain $word")
        contains -- "$next" )" +
         join(chains, " ") + R"(; and set chain $next
    end
    test "$chain" = "$argv[1]"
end
)" + lines;
}

}  // namespace

std::string_view to_string(Shell shell) {
  switch (shell) {
    case Shell::bash: return "bash";
    case Shell::zsh: return "zsh";
    case Shell::fish: break;
  }
  return "fish";
}

std::string completion(const CommandEntry& assay, Shell shell) {
  switch (shell) {
    case Shell::bash: return bash(assay);
    case Shell::zsh: return zsh(assay);
    case Shell::fish: break;
  }
  return fish(assay);
}

}  // namespace assay::server
