// Declares one function for each sub-command of `assay`. Each function has its own source file. It
// adds the sub-command and its options to the app. When CLI11 runs the sub-command, the sub-command
// stores its exit status in `status`.
#pragma once

#include <CLI/CLI.hpp>

#include "server/app/exit_status.h"

namespace assay::server {

/// Describes --suite of the commands that read a store.
inline constexpr const char* kSuiteOfStoreHelp =
    "the folder of the suite of the runs, if it is not Assay's own";

void add_serve(CLI::App& app, int& status);      // serve.cc
void add_worker(CLI::App& app, int& status);     // worker.cc
void add_eval(CLI::App& app, int& status);       // eval.cc
void add_check(CLI::App& app, int& status);      // check.cc
void add_bench(CLI::App& app, int& status);      // bench.cc
void add_demo(CLI::App& app, int& status);       // demo.cc
void add_report(CLI::App& app, int& status);     // report.cc
void add_site(CLI::App& app, int& status);       // site.cc
void add_runs(CLI::App& app, int& status);       // runs.cc
void add_show(CLI::App& app, int& status);       // show.cc
void add_operators(CLI::App& app, int& status);  // operators.cc: list, show, lint
void add_suites(CLI::App& app, int& status);     // suites.cc
void add_doctor(CLI::App& app, int& status);     // doctor.cc
void add_token(CLI::App& app, int& status);      // token.cc: new
void add_plan(CLI::App& app, int& status);       // plan.cc: show, diff
void add_store(CLI::App& app, int& status);      // store.cc: stats, prune
void add_import(CLI::App& app, int& status);     // import.cc
void add_setup(CLI::App& app, int& status);      // setup.cc

}  // namespace assay::server
