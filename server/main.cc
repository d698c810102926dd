// Implements the program `assay`: registers the sub-commands, which are in server/commands/, and
// runs the chosen sub-command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>

#include "base/stderr_line.h"
#include "server/commands/commands.h"
#include "server/commands/configuration.h"
#include "server/commands/export/export.h"
#include "server/commands/shell/shell.h"

namespace {

/// A wrong configuration must not hide the help.
bool asks_for_help(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const std::string_view word) {
    return word == "--help" || word == "-h" || word == "--version";
  });
}

void add_commands(CLI::App& app, int& status, const assay::server::Settings& settings) {
  using namespace assay::server;
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.require_subcommand(1);
  add_serve(app, status);
  add_worker(app, status);
  add_eval(app, status);
  add_check(app, status);
  add_bench(app, status);
  add_demo(app, status);
  add_report(app, status);
  add_site(app, status);
  add_runs(app, status);
  add_suites(app, status);
  add_show(app, status);
  add_operators(app, status);
  add_doctor(app, status);
  add_token(app, status);
  add_plan(app, status);
  add_store(app, status);
  add_import(app, status);
  add_export(app, status);
  add_setup(app, status);
  add_config(app, status, settings);
  add_shell(app, status);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  using namespace assay::server;
  // A write beyond the limit of file sizes must fail, as a write to a full disk does. By default it
  // ends the process.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"Assay: an MCP server through which any LLM agent writes GPU kernels and is scored",
               "assay"};
  int status = kPass;
  Settings settings;
  add_commands(app, status, settings);
  if (!asks_for_help(argc, argv)) {
    // Values of the files that the command line excludes are left out, so it is parsed first.
    CLI::App parsed;
    int unused = kPass;
    add_commands(parsed, unused, settings);
    const GivenOptions given = given_options(parsed, argc, argv);
    if (const Status ready = configure(app, settings, given); !ready)
      return print_error("config", kBadConfig, ready.error().message);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kPass : kUsage;
  } catch (const std::exception& error) {
    assay::stderr_line(std::string("assay: internal error: ") + error.what());
    return kInternal;
  }
  return status;
}
