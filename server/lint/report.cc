#include "server/lint/report.h"

#include <cstdio>

namespace assay::server {
namespace {

constexpr std::size_t kNameWidth = 24;

std::string padded(std::string text) {
  if (text.size() < kNameWidth) text.resize(kNameWidth, ' ');
  return text;
}

}  // namespace

std::string lint_text(const LintReport& report) {
  std::string text;
  for (const std::string& failure : report.failures) text += "FAIL " + failure + "\n";
  text += (report.is_sound() ? "ok   " : "FAIL ") + padded(report.name) + " " +
          std::to_string(report.checks) + " checks, " + std::to_string(report.killed) + " of " +
          std::to_string(report.mutants) + " mutants killed, oracle " + report.oracle;
  if (!report.recorded.empty()) text += "; " + report.recorded;
  return text + "\n";
}

nlohmann::json lint_to_json(const LintReport& report) {
  return {
      {"name", report.name},         {"sound", report.is_sound()},  {"checks", report.checks},
      {"mutants", report.mutants},   {"killed", report.killed},     {"failures", report.failures},
      {"oracle", report.oracle},     {"recorded", report.recorded}, {"verdict", report.verdict},
      {"checks_s", report.checks_s}, {"oracle_s", report.oracle_s}};
}

Result<LintReport> lint_from_json(const nlohmann::json& document) {
  LintReport report;
  try {
    document.at("name").get_to(report.name);
    document.at("checks").get_to(report.checks);
    document.at("mutants").get_to(report.mutants);
    document.at("killed").get_to(report.killed);
    document.at("failures").get_to(report.failures);
    document.at("oracle").get_to(report.oracle);
    document.at("recorded").get_to(report.recorded);
    report.verdict = document.at("verdict");
    document.at("checks_s").get_to(report.checks_s);
    document.at("oracle_s").get_to(report.oracle_s);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("not a lint report: ") + error.what());
  }
  return report;
}

}  // namespace assay::server
