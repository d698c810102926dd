// Writes a verdict's artifacts (launch plans, PTX) into a folder, a file each.
//
//   Result<std::vector<std::filesystem::path>> files = write_artifacts(verdict.artifacts, "out");
//   // out/small-cuda-90.plan, out/add_kernel.ptx
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::server {

/// Makes the folder. Names are untrusted: characters that a path gives a meaning to become '-', and
/// equal names are numbered. Errors: io.
Result<std::vector<std::filesystem::path>> write_artifacts(
    const std::vector<sandbox::Artifact>& artifacts, const std::filesystem::path& folder);

}  // namespace assay::server
