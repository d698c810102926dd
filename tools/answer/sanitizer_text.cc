#include <string>

#include "base/text.h"
#include "tools/answer/answers.h"
#include "tools/answer/verdict_answer.h"

namespace assay::tools {
namespace {

constexpr std::size_t kFindingBytes = 400;

}  // namespace

std::string sanitizer_text(const sandbox::Verdict& verdict) {
  if (!verdict.sanitizer) return "";
  const sandbox::SanitizerReport& report = *verdict.sanitizer;
  const std::string tools =
      join(report.tools, ", ", [](sandbox::SanitizerTool tool) { return to_string(tool); });
  std::string text = "sanitizer (" + tools + "): " +
                     (report.total == 0 ? "no findings"
                                        : std::to_string(report.total) +
                                              (report.total == 1 ? " finding" : " findings")) +
                     "\n";
  for (const sandbox::SanitizerFinding& finding : report.findings)
    text += "- " + line_of(finding_text(finding), kFindingBytes) + "\n";
  return text;
}

}  // namespace assay::tools
