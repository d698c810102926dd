// Implements `assay export harbor OUT`. It needs no server: the prompts come from the operators on
// this machine. python/assay/adapters/harbor_tasks.py writes the folders.
#include "server/commands/export/export_harbor.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "sandbox/job/limits.h"
#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/export/export_script.h"
#include "tools/spec_text.h"

namespace assay::server {
namespace {

constexpr const char* kExportHarbor = "export harbor";
constexpr const char* kHarborScript = "python/assay/adapters/harbor_tasks.py";

struct ExportHarborOptions {
  std::string out, suite;
  std::string operators = "all";  // names separated by commas
};

/// Writes one line for each chosen operator.
Status write_operators(const ExportHarborOptions& options, const operators::Catalog& catalog,
                       ScriptInput& input) {
  const auto add = [&input](const operators::Operator& op) {
    nlohmann::json one = tools::operator_facts(op);
    one["prompt"] = tools::spec_text(op, sandbox::Limits{});
    return input.add(one);
  };
  for (const std::string& name : split(options.operators, ",")) {
    if (name == "all") {
      for (const operators::Operator& op : catalog.all()) ASSAY_RETURN_IF_ERROR(add(op));
    } else if (const operators::Operator* op = catalog.find(name)) {
      ASSAY_RETURN_IF_ERROR(add(*op));
    } else {
      return fail(ErrorCode::not_found, "unknown operator '" + escape_text(name) +
                                            "'; `assay operators list` lists them");
    }
  }
  return {};
}

int export_harbor(const ExportHarborOptions& options) {
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kExportHarbor, status, options.suite);
  if (!workspace) return status;
  Result<ScriptInput> input = ScriptInput::make();
  if (!input) return print_error(kExportHarbor, kUnavailable, input.error().message);
  if (const Status written = write_operators(options, workspace->catalog, *input); !written)
    return print_error(kExportHarbor,
                       written.error().code == ErrorCode::not_found ? kUnknownName : kUnavailable,
                       written.error().message);
  return run_export_script(kExportHarbor, workspace->paths, kHarborScript, std::move(*input),
                           {"--out", options.out});
}

}  // namespace

void add_export_harbor(CLI::App& group, int& status) {
  auto options = std::make_shared<ExportHarborOptions>();
  CLI::App* command = group.add_subcommand(
      "harbor", "Write operators as task folders for Harbor; their verifier asks a server");
  command->add_option("out", options->out, "the folder to write; it must be new or empty")
      ->required();
  command->add_option("--operators", options->operators, "names separated by commas, or all")
      ->capture_default_str();
  command->add_option("--suite", options->suite,
                      "a folder of operators to use instead of Assay's own");
  command->callback([options, &status] { status = export_harbor(*options); });
}

}  // namespace assay::server
