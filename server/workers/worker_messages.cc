#include "server/workers/worker_messages.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/handle.h"
#include "base/text.h"
#include "sandbox/device/fake.h"
#include "sandbox/wire/header_reader.h"
#include "sandbox/wire/layer_reports.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

using sandbox::Frame;
using sandbox::HeaderReader;
using sandbox::kHighestInteger;

constexpr std::int64_t kMostJobs = 1'024;  // the most jobs that one device runs at once
constexpr std::size_t kShownDigits = 12;

/// Parses a payload, which a process of Assay has written.
Result<nlohmann::json> parse_payload(const Frame& frame, const std::string& what) {
  nlohmann::json document = nlohmann::json::parse(frame.payload, nullptr, false);
  if (document.is_discarded()) return fail(ErrorCode::corrupt, what + ": the payload is not JSON");
  return document;
}

std::string text_of(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string shown(const std::string& digest) {
  return digest.empty() ? "none" : digest.substr(0, kShownDigits);
}

}  // namespace

std::string difference(const WorkerRevision& mine, const WorkerRevision& theirs) {
  if (mine.assay != theirs.assay)
    return "it has version " + theirs.assay + " of Assay, and the server has " + mine.assay +
           "; install the server's version on the worker's machine";
  if (mine.harness != theirs.harness)
    return "its sandbox/harness has the digest " + shown(theirs.harness) +
           ", and the server's has " + shown(mine.harness) +
           "; install the server's files on the worker's machine";
  if (mine.suite != theirs.suite)
    return "its operators have the digest " + shown(theirs.suite) + ", and the server's have " +
           shown(mine.suite) + "; start the worker with the server's --suite";
  if (mine.role != theirs.role)
    return "its role is " + theirs.role + ", and its pool has role " + mine.role +
           "; change `assay worker --role` or the pool's `role`";
  if (!mine.device.empty() && mine.device != theirs.device)
    return "it serves device " + theirs.device + ", and its pool has device " + mine.device +
           "; change `assay worker --device` or the pool's `device`";
  return "";
}

std::string weakness(const WorkerRevision& mine, const WorkerHello& hello) {
  if (!mine.strict || hello.device.name == sandbox::kFakeDevice) return "";
  const auto missing = std::find_if(hello.layers.begin(), hello.layers.end(),
                                    [](const sandbox::LayerReport& one) { return !one.active; });
  if (missing == hello.layers.end() && !hello.layers.empty())
    return hello.revision.strict ? ""
                                 : "it runs without --isolation strict, and the server has it; add "
                                   "the option to the command of `assay worker`";
  const std::string lacks = hello.layers.empty()
                                ? "it names no layers of its sandbox"
                                : "its sandbox lacks the layer " + escape_text(missing->name) +
                                      " (" + escape_text(missing->detail) + ")";
  return lacks +
         ", and the server has --isolation strict; `assay doctor` on the worker's machine says "
         "what "
         "is missing there";
}

std::string missing_layers(const std::vector<sandbox::LayerReport>& layers) {
  std::string names;
  for (const sandbox::LayerReport& one : layers) {
    if (!one.active) names += (names.empty() ? "" : ",") + escape_text(one.name);
  }
  return names;
}

nlohmann::json to_json(const WorkerHello& hello) {
  const sandbox::DeviceInfo& device = hello.device;
  return {{"type", kHelloType},
          {"protocol", hello.protocol},
          {"assay", hello.revision.assay},
          {"harness", hello.revision.harness},
          {"suite", hello.revision.suite},
          {"role", hello.revision.role},
          {"host", hello.host},
          {"pid", hello.pid},
          {"strict_isolation", hello.revision.strict},
          {"layers", sandbox::to_json(hello.layers)},
          {"device",
           {{"name", device.name},
            {"description", device.description},
            {"can_time", device.can_time},
            {"best_tier", sandbox::to_string(device.best_tier)},
            {"default_target", device.default_target},
            {"concurrency", device.concurrency},
            {"class",
             {{"name", device.hardware.name},
              {"memory_bytes", device.hardware.memory_bytes},
              {"driver", device.hardware.driver},
              {"clock_khz", device.hardware.clock_khz},
              {"bandwidth_bytes_per_s", device.hardware.bandwidth_bytes_per_s}}}}}};
}

Result<WorkerHello> read_hello(const Frame& frame) {
  ASSAY_RETURN_IF_ERROR(sandbox::expect_type(frame, kHelloType));
  HeaderReader in(frame.header, kHelloType);
  WorkerHello hello;
  hello.protocol = in.integer("protocol", 0, kHighestInteger);
  if (in.status() && hello.protocol != kWorkerProtocol)
    return fail(ErrorCode::unsupported,
                "it speaks protocol " + std::to_string(hello.protocol) +
                    ", and the server speaks " + std::to_string(kWorkerProtocol) +
                    "; install the server's version on the worker's machine");
  hello.revision.assay = in.text("assay");
  hello.revision.harness = in.text("harness");
  hello.revision.suite = in.text("suite");
  hello.revision.role = in.has("role") ? in.text("role") : kRoleAll;
  hello.host = in.text("host");
  hello.pid = in.integer("pid", 0, kHighestInteger);
  hello.revision.strict = in.flag("strict_isolation");
  hello.layers = sandbox::read_layers(in);
  const nlohmann::json* device = in.object("device");
  ASSAY_RETURN_IF_ERROR(in.status());
  HeaderReader inner(*device, "hello.device");
  hello.device.name = hello.revision.device = inner.text("name");
  hello.device.description = inner.text("description");
  hello.device.can_time = inner.flag("can_time");
  const auto tier = sandbox::tier_from(inner.text("best_tier"));
  if (!tier) inner.reject("`best_tier` is unknown");
  hello.device.best_tier = tier.value_or(sandbox::Tier::none);
  hello.device.default_target = inner.optional_text("default_target");
  hello.device.concurrency = static_cast<int>(inner.integer("concurrency", 1, kMostJobs));
  const nlohmann::json* hardware = inner.object("class");
  ASSAY_RETURN_IF_ERROR(inner.status());
  HeaderReader of_class(*hardware, "hello.device.class");
  hello.device.hardware = {
      .name = of_class.text("name"),
      .memory_bytes = of_class.integer("memory_bytes", 0, kHighestInteger),
      .driver = of_class.text("driver"),
      .clock_khz = of_class.integer("clock_khz", 0, kHighestInteger),
      .bandwidth_bytes_per_s = of_class.integer("bandwidth_bytes_per_s", 0, kHighestInteger)};
  ASSAY_RETURN_IF_ERROR(of_class.status());
  return hello;
}

nlohmann::json tagged(const char* type, const JobTag& tag) {
  return {{"type", type}, {"job", tag.job}, {"attempt", tag.attempt}};
}

Result<JobTag> read_tag(const Frame& frame) {
  HeaderReader in(frame.header, frame.type());
  JobTag tag{in.text("job"), in.integer("attempt", 1, kHighestInteger)};
  ASSAY_RETURN_IF_ERROR(in.status());
  return tag;
}

namespace {

/// Returns a text that stands for a caller and does not tell its name. A worker keeps the
/// recordings of different callers apart.
std::string mark_of(const std::string& caller) {
  static const std::string secret = random_hex(32);
  return sha256_hex(secret + caller);
}

}  // namespace

Message job_message(const sandbox::Job& job, std::int64_t attempt) {
  Message message{tagged(kJobType, {job.id, attempt}), text_of(tools::job_to_json(job))};
  // The fields of a job that the store does not keep. The caller's name and its trace stay here.
  if (!job.caller.empty()) message.header["caller"] = mark_of(job.caller);
  message.header["run"] = job.run;
  message.header["shared_code"] = job.shared_code;
  message.header["every_case"] = job.every_case;
  return message;
}

Message launch_message(const sandbox::Job& job, std::int64_t attempt) {
  sandbox::Job bare = job;
  const sandbox::DistantSources distant{.sha256 = sha256_hex(job.source),
                                        .has_oracle = !job.baseline_source.empty()};
  // A profile quotes lines of the source. The worker never imports them.
  if (job.kind != sandbox::JobKind::profile) bare.source.clear();
  bare.baseline_source.clear();
  Message message = job_message(bare, attempt);
  message.header["distant_sources"] = {{"sha256", distant.sha256},
                                       {"has_oracle", distant.has_oracle}};
  return message;
}

Result<sandbox::Job> read_job(const Frame& frame) {
  ASSAY_TRY(document, parse_payload(frame, kJobType));
  ASSAY_TRY(job, tools::job_from_json(document));
  HeaderReader in(frame.header, kJobType);
  job.caller = in.optional_text("caller");
  job.run = in.optional_text("run");
  job.shared_code = in.optional_text("shared_code");
  job.every_case = in.flag("every_case");
  if (const nlohmann::json* distant = in.optional_object("distant_sources"); distant != nullptr) {
    HeaderReader from(*distant, "distant_sources");
    job.distant_sources = sandbox::DistantSources{.sha256 = from.text("sha256"),
                                                  .has_oracle = from.flag("has_oracle")};
    in.merge(from);
  }
  ASSAY_RETURN_IF_ERROR(in.status());
  job.operator_dir.clear();
  return std::move(job);
}

Message result_message(const JobTag& tag, const nlohmann::json& result) {
  return {tagged(kResultType, tag), text_of(result)};
}

Message stage_message(const JobTag& tag, sandbox::Stage stage) {
  Message message{tagged(kStageType, tag)};
  message.header["stage"] = sandbox::to_string(stage);
  return message;
}

Result<sandbox::Stage> read_stage(const Frame& frame) {
  HeaderReader in(frame.header, kStageType);
  const auto stage = sandbox::stage_from(in.text("stage"));
  if (!stage) in.reject("`stage` is unknown");
  ASSAY_RETURN_IF_ERROR(in.status());
  return *stage;
}

Message cases_message(const JobTag& tag, CasesDone cases) {
  Message message{tagged(kCasesType, tag)};
  message.header["done"] = cases.done;
  message.header["total"] = cases.total;
  return message;
}

Result<CasesDone> read_cases(const Frame& frame) {
  HeaderReader in(frame.header, kCasesType);
  const CasesDone cases{in.integer("done", 0, kHighestInteger),
                        in.integer("total", 0, kHighestInteger)};
  ASSAY_RETURN_IF_ERROR(in.status());
  return cases;
}

std::vector<Message> verdict_messages(const JobTag& tag, sandbox::Verdict verdict) {
  std::vector<Message> messages;
  for (sandbox::Artifact& artifact : std::exchange(verdict.artifacts, {})) {
    const auto bytes = static_cast<std::int64_t>(artifact.bytes.size());
    if (artifact.bytes.size() > sandbox::kMaxPayloadBytes) {
      verdict.artifacts_dropped.push_back(
          {artifact.kind, artifact.name, bytes, sandbox::DropReason::too_large});
      continue;
    }
    Message message{tagged(kArtifactType, tag), std::move(artifact.bytes)};
    message.header["kind"] = std::move(artifact.kind);
    message.header["name"] = std::move(artifact.name);
    messages.push_back(std::move(message));
  }
  Message message{tagged(kVerdictType, tag), text_of(tools::verdict_to_json(verdict))};
  message.header["reports_shortage"] = verdict.reports_shortage;
  message.header["run_cpu_ms"] = verdict.run_cpu_ms;
  messages.push_back(std::move(message));
  return messages;
}

Result<sandbox::Artifact> read_artifact(const Frame& frame) {
  HeaderReader in(frame.header, kArtifactType);
  sandbox::Artifact artifact{in.line("kind"), in.line("name"), frame.payload};
  ASSAY_RETURN_IF_ERROR(in.status());
  return artifact;
}

Result<sandbox::Verdict> read_verdict(const Frame& frame) {
  ASSAY_TRY(document, parse_payload(frame, kVerdictType));
  ASSAY_TRY(verdict, tools::verdict_from_json(document));
  HeaderReader in(frame.header, kVerdictType);
  verdict.reports_shortage = in.flag("reports_shortage");
  verdict.run_cpu_ms = in.integer("run_cpu_ms", 0, kHighestInteger);
  ASSAY_RETURN_IF_ERROR(in.status());
  return std::move(verdict);
}

}  // namespace assay::server
