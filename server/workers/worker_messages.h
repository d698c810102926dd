// Defines the messages between a server and a worker (docs/reference/workers.md). Each message is a
// frame. A function converts it into a struct, or refuses it with the name of the wrong field.
//
//   Result<sandbox::Frame> frame = sandbox::receive_frame(socket, deadline);
//   if (frame && frame->type() == kHelloType) {
//     const Result<WorkerHello> hello = read_hello(*frame);
//     if (!hello) return fail(hello.error());
//   }
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/job/device.h"
#include "sandbox/job/job.h"
#include "sandbox/wire/frame.h"
#include "server/workers/pool_settings.h"

namespace assay::server {

/// The number of the protocol. It changes if an older worker could not understand a message.
inline constexpr std::int64_t kWorkerProtocol = 5;

/// The types of the messages from a worker.
inline constexpr const char* kHelloType = "hello";
inline constexpr const char* kAliveType = "alive";
inline constexpr const char* kStageType = "stage";
inline constexpr const char* kCasesType = "cases";
inline constexpr const char* kArtifactType = "artifact";
inline constexpr const char* kVerdictType = "verdict";
inline constexpr const char* kDrainingType = "draining";
inline constexpr const char* kResultType = "result";
/// The types of the messages to a worker.
inline constexpr const char* kJobType = "job";
inline constexpr const char* kEvaluateType = "evaluate";
inline constexpr const char* kCancelType = "cancel";
inline constexpr const char* kDrainType = "drain";

/// A worker sends at least one frame in this time. While it has nothing else to send, it sends
/// `alive`.
inline constexpr std::int64_t kAliveMs = 1'000;

/// What decides about a verdict besides the job. The server refuses a worker with other values.
struct WorkerRevision {
  std::string assay;    // the version
  std::string harness;  // the SHA-256 of the sandbox's Python files
  std::string suite;    // the digest of the operators
  std::string device;   // the name of the device: "cpu", "cuda:0"; of a server, empty: any device
  std::string role = kRoleAll;
  /// True: --isolation strict. A worker then runs nothing in a jail that lacks an isolation layer,
  /// also in jails that start later. A server then uses only such workers.
  bool strict = false;

  bool operator==(const WorkerRevision&) const = default;
};

/// Returns why a server of `mine` cannot use a worker of `theirs`, and what to do. Returns "" if it
/// can.
std::string difference(const WorkerRevision& mine, const WorkerRevision& theirs);

struct WorkerHello;
/// Returns why a server of `mine` cannot rely on the worker's sandbox, and what to do: the sandbox
/// lacks an isolation layer, or the worker would also use jails that lack one. Returns "" if the
/// sandbox is good enough.
std::string weakness(const WorkerRevision& mine, const WorkerHello& hello);
/// Returns the names of the isolation layers that are not active, escaped and separated by commas.
std::string missing_layers(const std::vector<sandbox::LayerReport>& layers);

/// The first message of a worker.
struct WorkerHello {
  std::int64_t protocol = kWorkerProtocol;
  WorkerRevision revision;
  std::string host;
  std::int64_t pid = 0;
  sandbox::DeviceInfo device;
  std::vector<sandbox::LayerReport> layers;  // of the jails of its device
};
nlohmann::json to_json(const WorkerHello& hello);
Result<WorkerHello> read_hello(const sandbox::Frame& frame);

/// Names one execution of a job. A job that runs again has another attempt. A server numbers all
/// of its executions, so that no two have the same tag, not even of different jobs.
struct JobTag {
  std::string job;
  std::int64_t attempt = 0;

  auto operator<=>(const JobTag&) const = default;
};
/// Returns a message of this type about one execution, without further fields.
nlohmann::json tagged(const char* type, const JobTag& tag);
Result<JobTag> read_tag(const sandbox::Frame& frame);

/// A message and its payload, ready to be sent.
struct Message {
  nlohmann::json header;
  std::string payload = {};
};

Message job_message(const sandbox::Job& job, std::int64_t attempt);
/// Returns the job for a worker that only launches. It has no sources, except that a profile has
/// the text of the submission, whose lines it quotes.
Message launch_message(const sandbox::Job& job, std::int64_t attempt);
/// Returns the job without its `operator_dir`, which depends on the machine.
Result<sandbox::Job> read_job(const sandbox::Frame& frame);

/// Returns the answer to an `evaluate` message. The payload is the result.
Message result_message(const JobTag& tag, const nlohmann::json& result);

Message stage_message(const JobTag& tag, sandbox::Stage stage);
Result<sandbox::Stage> read_stage(const sandbox::Frame& frame);

struct CasesDone {
  std::int64_t done = 0, total = 0;
};
Message cases_message(const JobTag& tag, CasesDone cases);
Result<CasesDone> read_cases(const sandbox::Frame& frame);

/// Returns the messages that carry a verdict: one for each artifact, then the verdict without its
/// artifacts. An artifact that no frame can carry becomes a DroppedArtifact.
std::vector<Message> verdict_messages(const JobTag& tag, sandbox::Verdict verdict);
Result<sandbox::Artifact> read_artifact(const sandbox::Frame& frame);
Result<sandbox::Verdict> read_verdict(const sandbox::Frame& frame);

}  // namespace assay::server
