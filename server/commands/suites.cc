// Implements `assay suites [SUITE...]`, which lists Assay's own operators and imported suites: how
// many operators and cases each has, its digest, and which benchmark it comes from.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "operators/catalog.h"
#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "tools/answer/answers.h"

namespace assay::server {
namespace {

constexpr const char* kSuites = "suites";
constexpr std::size_t kShownDigestChars = 16;

struct SuitesOptions {
  std::vector<std::string> folders;
  bool json = false;
};

/// What is shown about one suite. The sets contain what the suite's operators say.
struct SuiteFacts {
  std::string folder;
  SuiteId suite;
  std::size_t operators = 0, cases = 0, hidden = 0;
  std::set<std::string> benchmarks, revisions, licences, files;
};

SuiteFacts suite_facts(const std::string& folder, const operators::Catalog& catalog) {
  SuiteFacts facts;
  facts.folder = folder;
  facts.suite = catalog.suite();
  const auto note = [](std::set<std::string>& known, const std::string& value) {
    if (!value.empty()) known.insert(value);
  };
  for (const operators::Operator& op : catalog.all()) {
    ++facts.operators;
    for (const operators::Case& item : op.cases) ++(item.hidden ? facts.hidden : facts.cases);
    note(facts.benchmarks, op.provenance.benchmark);
    note(facts.revisions, op.provenance.revision);
    note(facts.licences, op.provenance.licence);
    note(facts.files, op.provenance.file);
  }
  return facts;
}

nlohmann::json suite_json(const SuiteFacts& facts) {
  return {{"suite", facts.folder},          {"name", facts.suite.name},
          {"version", facts.suite.version}, {"digest", facts.suite.digest},
          {"operators", facts.operators},   {"public_cases", facts.cases},
          {"hidden_cases", facts.hidden},   {"benchmarks", facts.benchmarks},
          {"files", facts.files.size()},    {"revisions", facts.revisions},
          {"licences", facts.licences}};
}

std::string suite_line(const SuiteFacts& facts) {
  std::string text =
      facts.folder + ": " + facts.suite.name +
      (facts.suite.version.empty() ? ", no version" : " " + facts.suite.version) + ", " +
      tools::count_text(static_cast<std::int64_t>(facts.operators), "operator") + ", " +
      tools::count_text(static_cast<std::int64_t>(facts.cases), "public case") + ", " +
      std::to_string(facts.hidden) + " hidden, digest " +
      facts.suite.digest.substr(0, kShownDigestChars);
  if (facts.benchmarks.empty()) return text + "\n";
  text += "\n  from " + join(facts.benchmarks) + ", " +
          tools::count_text(static_cast<std::int64_t>(facts.files.size()), "file");
  text += ", revision " + (facts.revisions.empty() ? "unknown" : join(facts.revisions));
  return text + ", licence: " + (facts.licences.empty() ? "unknown" : join(facts.licences)) + "\n";
}

int list_suites(const SuitesOptions& options) {
  std::vector<std::string> folders = {""};  // Assay's own operators
  folders.insert(folders.end(), options.folders.begin(), options.folders.end());
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& folder : folders) {
    int status = kPass;
    const auto workspace = open_workspace(kSuites, status, folder);
    if (!workspace) return status;
    const SuiteFacts facts = suite_facts(folder.empty() ? "assay" : folder, workspace->catalog);
    if (options.json)
      list.push_back(suite_json(facts));
    else
      std::fputs(suite_line(facts).c_str(), stdout);
  }
  if (options.json) std::printf("%s\n", list.dump(1).c_str());
  return kPass;
}

}  // namespace

void add_suites(CLI::App& app, int& status) {
  auto options = std::make_shared<SuitesOptions>();
  CLI::App* command =
      app.add_subcommand(kSuites, "List Assay's own operators and imported suites, with digests");
  command->add_option("suites", options->folders, "folders that `assay import` made");
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &status] { status = list_suites(*options); });
}

}  // namespace assay::server
