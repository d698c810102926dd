// The JSON form of a Job, "assay.job/1": what the store keeps of an unfinished job so that it can
// be run after a restart. The source text is kept as it was given. Pure functions, thread-safe.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::tools {

nlohmann::json job_to_json(const sandbox::Job& job);
Result<sandbox::Job> job_from_json(const nlohmann::json& document);

}  // namespace assay::tools
