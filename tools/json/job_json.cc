#include "tools/json/job_json.h"

#include "tools/json/enum_names.h"
#include "tools/json/json_archive.h"

// `fields` is found by argument-dependent lookup, hence in the namespace of the structs.
namespace assay::sandbox {

template <class Archive>
void fields(Archive& archive, Limits& limits) {
  archive("import_wall_ms", limits.import_wall_ms);
  archive("run_wall_ms", limits.run_wall_ms);
  archive("launch_wall_ms", limits.launch_wall_ms);
  archive("judge_wall_ms", limits.judge_wall_ms);
  archive("memory_bytes", limits.memory_bytes);
  archive("gpu_memory_bytes", limits.gpu_memory_bytes);
  archive("cpu_percent", limits.cpu_percent);
  archive("processes", limits.processes);
  archive("tmp_bytes", limits.tmp_bytes);
  archive("stdout_bytes", limits.stdout_bytes);
  archive("output_flood_bytes", limits.output_flood_bytes);
  archive("source_bytes", limits.source_bytes);
}

template <class Archive>
void fields(Archive& archive, CaseRequest& request) {
  archive("id", request.id);
  archive("hidden", request.hidden);
  archive("interpreter", request.interpreter);
  archive("axes", request.axes);
  archive("dtype", request.dtype);
  archive("distribution", request.distribution);
}

template <class Archive>
void fields(Archive& archive, Job& job) {
  archive("id", job.id);
  archive("kind", job.kind);
  archive("operator", job.operator_name);
  archive("operator_dir", job.operator_dir);
  archive("entry", job.entry);
  archive("dialect", job.dialect);
  archive("language", job.language);
  archive("source", tools::Verbatim{job.source});
  archive("cases", job.cases);
  archive("targets", job.targets);
  archive("baseline_source", tools::Verbatim{job.baseline_source});
  archive("want_artifacts", job.want_artifacts);
  archive("detail", job.detail);
  archive("limits", job.limits);
}

}  // namespace assay::sandbox

namespace assay::tools {

constexpr const char* kJobFormatName = "assay.job/1";

nlohmann::json job_to_json(const sandbox::Job& job) {
  nlohmann::json document = write_json(job);
  document["format"] = kJobFormatName;
  return document;
}

Result<sandbox::Job> job_from_json(const nlohmann::json& document) {
  if (!document.is_object() || document.value("format", nlohmann::json()) != kJobFormatName) {
    return fail(ErrorCode::corrupt, std::string("job: expected format \"") + kJobFormatName + "\"");
  }
  return read_json<sandbox::Job>(document, "job");
}

}  // namespace assay::tools
