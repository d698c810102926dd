// The HIP C++ text of the launcher's own kernels for AMD's GPUs. trusted_kernels.h says what each
// kernel is for, and trusted_ptx.h has the same kernels for NVIDIA's GPUs. hipRTC compiles the text
// when a launcher starts. The text needs no header.
//
//   const std::string_view text = hip::kTrustedText;  // has assay_scrub, assay_clock, ...
#pragma once

#include <string_view>

namespace assay::sandbox::hip {

extern const std::string_view kTrustedText;

}  // namespace assay::sandbox::hip
