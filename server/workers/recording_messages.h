// Defines the messages about recordings (docs/reference/workers.md). A worker that launches sends
// an order; the server passes it on to a worker that records, and passes the answers back. Plans
// are data: the worker that launches checks them like the plans of a candidate.
//
//   const Result<Message> order = record_message(tag, 1, request);
//   // On the worker that records:
//   Result<RecordingOrder> read = read_order(frame);
//
// Pure functions, except that read_order() creates memory files. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/pool/messages.h"
#include "sandbox/record/record_cases.h"
#include "server/workers/worker_messages.h"

namespace assay::server {

/// From the server to a worker that records: the job whose sources an order names.
inline constexpr const char* kRecordJobType = "record_job";
/// From a worker that launches. The server answers `place` itself.
inline constexpr const char* kPlaceType = "place";  // the execution wants its place
inline constexpr const char* kRecordType = "record";
inline constexpr const char* kDisassembleType = "disassemble";
inline constexpr const char* kRecordHiddenType = "record_hidden";  // the public cases were right
inline constexpr const char* kRecordEndType = "record_end";        // no hidden case may follow
/// From the server to a worker that launches: the answer to `place`.
inline constexpr const char* kPlacedType = "placed";
/// From a worker that records.
inline constexpr const char* kRecordingStageType = "recording_stage";
inline constexpr const char* kRecordedCaseType = "recorded_case";
inline constexpr const char* kRecordedPublicType = "recorded_public";  // it waits for an answer
inline constexpr const char* kRecordedArtifactType = "recorded_artifact";
inline constexpr const char* kRecordedType = "recorded";

/// Returns true for the types that order something of a worker that records.
bool is_order(std::string_view type);
/// Returns true for the types that a worker that launches sends.
bool is_from_launcher(std::string_view type);
/// Returns true for the types that answer a worker that launches.
bool is_from_recorder(std::string_view type);

/// Returns a message about recording number `recording` of an execution, without further fields.
nlohmann::json recording_tagged(const char* type, const JobTag& tag, std::int64_t recording);
Result<std::int64_t> read_recording(const sandbox::Frame& frame);

/// What a worker that launches wants: a recording, or the listings of a plan.
struct RecordingOrder {
  std::int64_t recording = 0;  // counts the orders of one execution
  std::string target;
  std::string plan = {};  // only of a `disassemble` message
  /// Only of a `record` message: the cases, in the order of the plans, and how they are recorded.
  sandbox::PreparedJob prepared = {};
  sandbox::RecordedSource whose = sandbox::RecordedSource::submission;
  sandbox::RecordOptions options = {};  // `candidates` is above 1 if the worker may use several
  bool asks = false;                    // whether hidden cases wait for `record_hidden`
};
/// Errors: corrupt if the values of a structural argument are not inside their file; io or
/// invalid_argument if they cannot be sent.
Result<Message> record_message(const JobTag& tag, std::int64_t recording,
                               const sandbox::RecordRequest& request);
/// Errors: corrupt; io if a memory file cannot be made.
Result<RecordingOrder> read_order(sandbox::Frame& frame);

/// Returns the job, with its sources, for a worker that records.
Message record_job_message(const sandbox::Job& job, std::int64_t attempt);

Message recorded_case_message(const JobTag& tag, std::int64_t recording, sandbox::CaseDone done);
Result<sandbox::CaseDone> read_recorded_case(sandbox::Frame& frame);

/// The end of a recording. `verdict` has its error, its output, and the versions and layers of the
/// candidates.
struct Recorded {
  bool ok = false;
  sandbox::Verdict verdict;
};
Message recorded_message(const JobTag& tag, std::int64_t recording, const Recorded& recorded);
Result<Recorded> read_recorded(const sandbox::Frame& frame);

}  // namespace assay::server
