#include "sandbox/job/sanitizer_report.h"

#include <cstddef>

namespace assay::sandbox {
namespace {

std::string place_text(const SanitizerPlace& place) {
  std::string text;
  if (!place.kernel.empty()) text += " in kernel " + place.kernel;
  if (place.line > 0)
    text += place.file.empty() ? ", line " + std::to_string(place.line)
                               : ", " + place.file + ":" + std::to_string(place.line);
  if (!place.code.empty()) text += " `" + place.code + "`";
  return text;
}

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text;
  for (const std::int64_t one : index) text += (text.empty() ? "(" : ", ") + std::to_string(one);
  return text + ")";
}

}  // namespace

std::string finding_text(const SanitizerFinding& finding) {
  std::string text = std::string(to_string(finding.tool)) + ": " + finding.text;
  for (std::size_t i = 0; i < finding.places.size(); ++i)
    text += (i == 0 ? "" : " and") + place_text(finding.places[i]);
  if (!finding.address.empty()) text += ", address " + finding.address;
  if (!finding.thread.empty()) text += ", thread " + index_text(finding.thread);
  if (!finding.block.empty())
    text += (finding.thread.empty() ? ", block " : " of block ") + index_text(finding.block);
  return text;
}

}  // namespace assay::sandbox
