// The PTX text of the launcher's own kernels. trusted_kernels.h says what each kernel is for.
//
//   const std::string scrub = ptx::scrub_text();
//   const std::string_view clock = ptx::kClockText;
//
// The kernel of kClockText is assay_clock, and so on. The kernel of kCopyText is assay_copy_memory,
// because the recorder has a kernel named assay_copy.
#pragma once

#include <string>

namespace assay::sandbox::ptx {

std::string scrub_text();
extern const char* const kClockText;
extern const char* const kCopyText;
extern const char* const kDifferText;
extern const char* const kFillText;
extern const char* const kMaskText;
extern const char* const kTouchText;

}  // namespace assay::sandbox::ptx
