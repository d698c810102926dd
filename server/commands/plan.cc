// Implements `assay plan show`, which prints stored launch plans, and `assay plan diff`, which
// compares two plans. The exit status of `diff` is 0 if the plans do the same work, otherwise 1.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/plan_text/diff.h"
#include "server/plan_text/plan_source.h"
#include "server/plan_text/show.h"

namespace assay::server {
namespace {

constexpr const char* kWhat = "a plan's file, - for standard input, or the handle of an artifact";

struct PlanOptions {
  std::string first, second;
  std::string store;
};

int print(const std::string& command, const std::string& text, int status) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return print_error(command, kUnavailable, "cannot write to standard output");
  return status;
}

std::filesystem::path store_of(const PlanOptions& options) {
  if (!options.store.empty()) return options.store;
  const Result<Paths> paths = find_paths();
  return paths ? paths->default_store() : std::filesystem::path("assay.db");
}

int show(const PlanOptions& options) {
  const Result<StoredPlan> stored = read_plan(options.first, store_of(options));
  if (!stored)
    return print_error("plan show", status_of_plan_error(stored.error()), stored.error().message);
  return print("plan show", show_plan(stored->plan, stored->bytes.size()), kPass);
}

int diff(const PlanOptions& options) {
  const Result<StoredPlan> before = read_plan(options.first, store_of(options));
  if (!before)
    return print_error("plan diff", status_of_plan_error(before.error()), before.error().message);
  const Result<StoredPlan> after = read_plan(options.second, store_of(options));
  if (!after)
    return print_error("plan diff", status_of_plan_error(after.error()), after.error().message);
  if (before->bytes == after->bytes)
    return print("plan diff", "the plans are the same, byte for byte\n", kPass);
  const PlanDiff found = diff_plans(before->plan, after->plan);
  if (found.same) return print("plan diff", "the plans do the same\n", kPass);
  const std::string head =
      "--- " + options.first + "  " + plan_header(before->plan, before->bytes.size()) + "\n+++ " +
      options.second + "  " + plan_header(after->plan, after->bytes.size()) + "\n";
  return print("plan diff", head + found.text, kFail);
}

}  // namespace

void add_plan(CLI::App& app, int& status) {
  CLI::App* plan = app.add_subcommand("plan", "Show and compare stored launch plans");
  plan->require_subcommand(1);
  auto options = std::make_shared<PlanOptions>();
  CLI::App* shown =
      plan->add_subcommand("show", "Print a plan: buffers, binaries, operations in order, outputs");
  shown->add_option("plan", options->first, kWhat)->required();
  shown->callback([options, &status] { status = show(*options); });
  CLI::App* compared = plan->add_subcommand(
      "diff", "Show what changed from one plan to another; exit status 0 if nothing did, else 1");
  compared->add_option("before", options->first, kWhat)->required();
  compared->add_option("after", options->second, kWhat)->required();
  compared->callback([options, &status] { status = diff(*options); });
  for (CLI::App* command : {shown, compared})
    command->add_option("--store", options->store,
                        "the store that holds the artifacts (default: the user's)");
}

}  // namespace assay::server
