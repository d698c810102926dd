// Fuzzes the reader of Compute Sanitizer's XML reports. The submission chooses some of the names in
// a report.
//
// For any bytes there must be no crash. No part of a finding may exceed its size limit. Each text
// of a finding must be a single line. A line of code must come from the submission's source. A
// place has a line of code only if the place is in the submission.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/sanitize/report_xml.h"

namespace {

using assay::sandbox::SanitizerFinding;
using assay::sandbox::SanitizerPlace;

constexpr std::string_view kSource = "def vector_add(x, y):\n    z = torch.empty_like(x)\n\n";
constexpr std::size_t kMostTextBytes = 300, kMostPlaceBytes = 200, kMostAddressBytes = 20;
constexpr std::size_t kMostPlaces = 2, kAxes = 3;

void require(bool holds) {
  if (!holds) std::abort();
}

bool one_line(std::string_view text) { return text.find('\n') == text.npos; }

void check(const SanitizerPlace& place) {
  require(place.kernel.size() <= kMostPlaceBytes && place.file.size() <= kMostPlaceBytes);
  require(one_line(place.kernel) && one_line(place.file) && one_line(place.code));
  require(place.line >= 0);
  require(kSource.find(place.code) != kSource.npos);
  require(place.code.empty() || (place.file.empty() && place.line > 0));
}

void check(const SanitizerFinding& finding) {
  require(!finding.text.empty() && finding.text.size() <= kMostTextBytes && one_line(finding.text));
  require(finding.address.size() <= kMostAddressBytes && one_line(finding.address));
  require(finding.places.size() <= kMostPlaces);
  for (const SanitizerPlace& place : finding.places) check(place);
  for (const auto& index : {finding.thread, finding.block}) {
    require(index.empty() || index.size() == kAxes);
    require(std::all_of(index.begin(), index.end(), [](std::int64_t axis) { return axis >= 0; }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto findings =
      sandbox::read_sanitizer_report(xml, sandbox::SanitizerTool::racecheck, kSource);
  if (!findings) {
    require(findings.error().code == ErrorCode::corrupt ||
            findings.error().code == ErrorCode::unavailable);
    return 0;
  }
  for (const SanitizerFinding& finding : *findings) check(finding);
  return 0;
}
