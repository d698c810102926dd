// Checks that docs/reference/cli.md names exactly the options that the commands have.
#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "server/commands/commands.h"
#include "server/commands/configuration.h"
#include "server/commands/export/export.h"
#include "server/commands/shell/shell.h"
#include "tests/catch.h"

using namespace assay;

namespace {

using Names = std::set<std::string>;

std::string page() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/reference/cli.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Names options_in(const std::string& text) {
  static const std::regex option("--([a-z][a-z0-9-]*)");
  Names names;
  for (std::sregex_iterator it(text.begin(), text.end(), option), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

/// Returns the options in the row of the page's table that begins with `word`.
Names options_of_row(const std::string& text, const std::string& word) {
  const std::size_t at = text.find("\n| `" + word + "` |");
  REQUIRE(at != std::string::npos);
  return options_in(text.substr(at, text.find('\n', at + 1) - at));
}

/// Returns the options of each command in the synopsis: "operators lint" -> {"suite", ...}.
std::map<std::string, Names> synopsis(const std::string& text) {
  const std::size_t begin = text.find("```\nassay ");
  const std::size_t end = text.find("\n```", begin);
  REQUIRE(end != std::string::npos);
  std::map<std::string, std::string> lines;  // maps a command to the text after it
  static const std::regex brackets("\\[[^\\]]*\\]");
  std::vector<std::string> commands;
  for (const std::string& line : split(text.substr(begin + 4, end - begin - 4), "\n")) {
    if (line.starts_with("assay ")) {
      const std::vector<std::string> words = split(std::regex_replace(line, brackets, ""), " ");
      commands = {words[1]};
      if (words[1] == "token" || words[1] == "plan" || words[1] == "operators" ||
          words[1] == "store" || words[1] == "import" || words[1] == "export" ||
          words[1] == "config") {
        commands.clear();
        for (const std::string& second : split(words[2], "|"))
          commands.push_back(words[1] + " " + second);
      }
    }
    for (const std::string& command : commands) lines[command] += line + "\n";
  }
  std::map<std::string, Names> options;
  for (const auto& [command, all] : lines) {
    options[command] = options_in(all);
    for (const char* group : {"SANDBOX", "LOG"}) {
      if (all.find(std::string("[") + group + "]") != std::string::npos)
        options[command].merge(options_of_row(text, group));
    }
  }
  options.erase("--version");  // an option of assay itself
  return options;
}

Names options_of(const CLI::App& command) {
  Names names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.insert(name);
  }
  names.erase("help");
  names.erase("without");  // this option is only in builds for tests
  return names;
}

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

}  // namespace

TEST_CASE("the page of the command line names every option of every command, and no other") {
  CLI::App app;
  int status = 0;
  server::add_serve(app, status);
  server::add_worker(app, status);
  server::add_eval(app, status);
  server::add_bench(app, status);
  server::add_check(app, status);
  server::add_demo(app, status);
  server::add_report(app, status);
  server::add_suites(app, status);
  server::add_site(app, status);
  server::add_runs(app, status);
  server::add_show(app, status);
  server::add_operators(app, status);
  server::add_doctor(app, status);
  server::add_token(app, status);
  server::add_plan(app, status);
  server::add_store(app, status);
  server::add_import(app, status);
  server::add_export(app, status);
  server::add_setup(app, status);
  const server::Settings settings;
  server::add_config(app, status, settings);
  server::add_shell(app, status);
  std::map<std::string, Names> offered;
  for (CLI::App* command : commands_of(app)) {
    const std::vector<CLI::App*> inner = commands_of(*command);
    if (inner.empty()) offered[command->get_name()] = options_of(*command);
    for (CLI::App* one : inner) {
      Names& names = offered[command->get_name() + " " + one->get_name()];
      names = options_of(*one);
      names.merge(options_of(*command));
    }
  }
  std::map<std::string, Names> documented = synopsis(page());
  for (const auto& [command, names] : offered) {
    INFO(command << ": offered " << join(names) << "; documented " << join(documented[command]));
    CHECK(names == documented[command]);
  }
  CHECK(documented.size() == offered.size());
}
