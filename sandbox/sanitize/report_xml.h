// Reads the XML report of a tool of NVIDIA Compute Sanitizer.
//
//   Result<std::vector<SanitizerFinding>> findings =
//       read_sanitizer_report(xml, SanitizerTool::memcheck, job.source);
//   const bool clean = findings && findings->empty();
//
// The report is untrusted, because the submission chooses the names of kernels and of files in it.
// A submission's binary could even attack the driver in the process in which the tool runs. So the
// parser accepts any text, and bounds all sizes. The elements `kind` and `level`, which the tool
// writes, decide whether a record is a finding. Both must be in a closed list (report_xml.cc); any
// other kind or level is an error. NVIDIA publishes no schema of the report. Pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/sanitizer_report.h"

namespace assay::sandbox {

/// Returns the findings in the order of the report. The text of a place's line comes from `source`,
/// the submission's source. Errors: corrupt if the text is not a whole report, or has a record of a
/// kind or level that is not known; unavailable if a record reports an error of the sanitizer
/// itself.
Result<std::vector<SanitizerFinding>> read_sanitizer_report(std::string_view xml,
                                                            SanitizerTool tool,
                                                            std::string_view source);

}  // namespace assay::sandbox
