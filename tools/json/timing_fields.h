// Names the JSON fields of times, which are parts of a verdict. The functions describe the structs
// to an archive (json_archive.h).
//
//   const nlohmann::json document = tools::write_json(timing);
//
// Only sources of tools/json include this header. Thread-safe.
#pragma once

#include "sandbox/job/job.h"
#include "tools/json/json_archive.h"

// Argument-dependent lookup finds `fields`, so it must be in the namespace of the structs.
namespace assay::sandbox {

template <class Archive>
void fields(Archive& archive, Timing& timing) {
  archive("median_ns", timing.median_ns);
  archive("low_ns", timing.low_ns);
  archive("high_ns", timing.high_ns);
  archive("samples_ns", timing.samples_ns);
  archive("warm_ns", timing.warm_ns);
  archive("first_run_ns", tools::Newer{timing.first_run_ns});
  archive("fresh_ns", tools::Newer{timing.fresh_ns});
  archive("wall_ns", timing.wall_ns);
  archive("overhead_ns", timing.overhead_ns);
  archive("clock_mhz", timing.clock_mhz);
  archive("discarded", timing.discarded);
  archive("age_ms", tools::Newer{timing.age_ms});
}

template <class Archive>
void fields(Archive& archive, OperationTime& operation) {
  archive("name", operation.name);
  archive("submitted", operation.submitted);
  archive("ns", operation.ns);
}

}  // namespace assay::sandbox
