#include "server/lint/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/handle.h"

namespace assay::server {
namespace {

constexpr std::size_t kNameWidth = 24;

std::string padded(std::string text) {
  if (text.size() < kNameWidth) text.resize(kNameWidth, ' ');
  return text;
}

std::string where(const sandbox::LintCheck& check) {
  return check.case_id.empty() ? "" : ", case " + check.case_id;
}

/// Returns a text that lists the first kMostNamedChecks names, separated by commas, and says how
/// many names follow.
std::string named(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamedChecks); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamedChecks)
    text += " and " + std::to_string(names.size() - kMostNamedChecks) + " more";
  return text;
}

/// Returns the word at the start of a report's last line.
std::string mark(const LintReport& report) {
  if (!report.failures.empty()) return "FAIL ";
  return report.undecided.empty() ? "ok   " : "?    ";
}

}  // namespace

std::vector<std::string> failure_lines(const std::string& operator_name,
                                       const std::vector<sandbox::LintCheck>& checks) {
  std::vector<std::string> lines;
  const auto add = [&](const sandbox::LintCheck& check, const std::string& more) {
    lines.push_back(operator_name + where(check) + ", " + check.check + ": " + check.detail + more);
  };
  std::vector<std::string> done;
  for (const sandbox::LintCheck& check : checks) {
    if (check.ok || check.mutant || std::find(done.begin(), done.end(), check.check) != done.end())
      continue;
    done.push_back(check.check);
    std::vector<std::string> others;
    for (const sandbox::LintCheck& other : checks) {
      if (!other.ok && other.check == check.check && other.case_id != check.case_id)
        others.push_back(other.case_id);
    }
    add(check, others.empty() ? "" : " (also in case " + named(others) + ")");
  }
  std::vector<std::string> passing;
  for (const sandbox::LintCheck& check : checks) {
    if (check.ok || !check.mutant) continue;
    if (passing.empty()) add(check, "");
    passing.push_back((check.case_id.empty() ? "" : check.case_id + " ") + check.check);
  }
  if (passing.size() > 1) {
    passing.erase(passing.begin());
    lines.push_back(operator_name + ", " + std::to_string(passing.size()) +
                    " more checks with mutants fail: " + named(passing));
  }
  return lines;
}

std::string lint_text(const LintReport& report) {
  std::string text;
  for (const std::string& failure : report.failures) text += "FAIL " + failure + "\n";
  if (!report.undecided.empty()) text += "?    " + report.undecided + "\n";
  text += mark(report) + padded(report.name) + " " + std::to_string(report.checks) + " checks, " +
          std::to_string(report.killed) + " of " + std::to_string(report.mutants) +
          " mutants killed, oracle " + report.oracle;
  if (!report.recorded.empty()) text += "; " + report.recorded;
  return text + "\n";
}

nlohmann::json lint_to_json(const LintReport& report) {
  return {{"name", report.name},          {"sound", report.is_sound()},
          {"checks", report.checks},      {"mutants", report.mutants},
          {"killed", report.killed},      {"failures", report.failures},
          {"oracle", report.oracle},      {"recorded", report.recorded},
          {"verdict", report.verdict},    {"checks_s", report.checks_s},
          {"oracle_s", report.oracle_s},  {"interpreter_ms", report.interpreter_ms},
          {"undecided", report.undecided}};
}

Result<LintReport> lint_from_json(const nlohmann::json& document) {
  LintReport report;
  try {
    document.at("name").get_to(report.name);
    document.at("checks").get_to(report.checks);
    document.at("mutants").get_to(report.mutants);
    document.at("killed").get_to(report.killed);
    document.at("failures").get_to(report.failures);
    document.at("undecided").get_to(report.undecided);
    document.at("oracle").get_to(report.oracle);
    document.at("recorded").get_to(report.recorded);
    report.verdict = document.at("verdict");
    document.at("checks_s").get_to(report.checks_s);
    document.at("oracle_s").get_to(report.oracle_s);
    document.at("interpreter_ms").get_to(report.interpreter_ms);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("not a lint report: ") + error.what());
  }
  return report;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "assay.lint/1";

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Combines the hash `known` of earlier contents with the next content `more`. `more` is hashed
/// separately. Otherwise, bytes could move from one content to the next without changing the
/// result.
std::string both(const std::string& known, std::string_view more) {
  return sha256_hex(known + "\n" + sha256_hex(more));
}

/// Returns the paths below `folder` for which `wanted` returns true. The paths are sorted, so that
/// their order is the same on every machine. Returns an empty list if the folder does not exist.
template <class Wanted>
std::vector<fs::path> below(const fs::path& folder, Wanted wanted) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename() == "__pycache__") it.disable_recursion_pending();
    if (wanted(*it)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string content_of_folder(const fs::path& folder) {
  std::string content;
  const auto is_source = [](const fs::directory_entry& entry) {
    return entry.is_regular_file() && entry.path().extension() != ".pyc";
  };
  for (const fs::path& file : below(folder, is_source))
    content = both(both(content, fs::relative(file, folder).string()), bytes_of(file));
  return content;
}

/// Returns the names and versions of the packages in the interpreter's environment.
std::string packages_of(const fs::path& python) {
  std::string names = python.string();
  std::error_code error;
  for (fs::directory_iterator versions(python.parent_path().parent_path() / "lib", error), end;
       !error && versions != end; versions.increment(error)) {
    std::vector<std::string> installed;
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(versions->path() / "site-packages", ignored)) {
      if (entry.path().extension() == ".dist-info")
        installed.push_back(entry.path().filename().string());
    }
    std::sort(installed.begin(), installed.end());
    for (const std::string& name : installed) names += "\n" + name;
  }
  return names;
}

}  // namespace

std::string content_of_judges(const Paths& paths, const sandbox::DeviceInfo& device) {
  std::string content = kFormat;
  for (const char* program : {"assay", "assay-jail", "assay-launcher"})
    content = both(content, bytes_of(paths.binaries / program));
  content = both(content, content_of_folder(paths.root / "sandbox/harness"));
  content = both(content, packages_of(paths.python));
  return both(both(content, device.name), device.description);
}

fs::path LintCache::path_of(const operators::Operator& op) const {
  return folder_ / (both(judges_, content_of_folder(op.directory)) + ".json");
}

std::optional<LintReport> LintCache::find(const operators::Operator& op) const {
  if (fresh_) return std::nullopt;
  const nlohmann::json document = nlohmann::json::parse(bytes_of(path_of(op)), nullptr, false);
  Result<LintReport> report = lint_from_json(document);
  if (!report || report->name != op.name || !report->is_sound()) return std::nullopt;
  return std::move(*report);
}

void LintCache::keep(const operators::Operator& op, const LintReport& report) const {
  if (!report.is_sound()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path path = path_of(op);
  const fs::path unfinished = path.string() + "." + std::to_string(::getpid());
  std::ofstream(unfinished, std::ios::binary) << lint_to_json(report).dump();
  // rename() is atomic, so a reader sees a complete report even if two processes write the same
  // report.
  fs::rename(unfinished, path, error);
  if (error) fs::remove(unfinished, error);
}

}  // namespace assay::server
