// DistantSources describes the sources of a job that comes without them, because another worker
// records it.
//
//   job.distant_sources = DistantSources{.sha256 = sha256_hex(source), .has_oracle = true};
//
// A plain struct.
#pragma once

#include <string>

namespace assay::sandbox {

struct DistantSources {
  std::string sha256;       // of the submission
  bool has_oracle = false;  // whether there is a Job::baseline_source
};

}  // namespace assay::sandbox
