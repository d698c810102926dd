#include "server/workers/recording_messages.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sandbox/wire/header_reader.h"
#include "sandbox/wire/memfd.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

using nlohmann::json;
using sandbox::Argument;
using sandbox::Frame;
using sandbox::HeaderReader;
using sandbox::kHighestInteger;
using sandbox::PreparedCase;
using sandbox::RecordedSource;

constexpr std::array<std::string_view, 5> kFromLauncher{kPlaceType, kRecordType, kDisassembleType,
                                                        kRecordHiddenType, kRecordEndType};
constexpr std::array<std::string_view, 6> kFromRecorder{kPlacedType,           kRecordingStageType,
                                                        kRecordedCaseType,     kRecordedPublicType,
                                                        kRecordedArtifactType, kRecordedType};
constexpr std::string_view kSubmission = "submission", kOracle = "oracle";
constexpr std::size_t kMostValues = sandbox::kMaxFrameFds;

/// Appends the bytes of a tensor to `payload`. The judge of an imported suite is untrusted, so its
/// ranges are compared with the sizes of its files. Access to a page behind the end of a mapped
/// file would end this process. Error: corrupt if a range is not inside its file.
Status append_bytes(std::string& payload, const sandbox::PreparedJob& prepared,
                    const Argument& argument) {
  const int fd = prepared.fds[static_cast<std::size_t>(*argument.fd)].get();
  const auto offset = static_cast<std::size_t>(argument.offset),
             bytes = static_cast<std::size_t>(argument.nbytes);
  if (payload.size() + bytes > sandbox::kMaxPayloadBytes)
    return fail(ErrorCode::invalid_argument,
                "the values that the recording depends on are larger than a frame");
  ASSAY_TRY(size, sandbox::check_foreign_memfd(fd));
  if (offset > size || bytes > size - offset)
    return fail(ErrorCode::corrupt, "argument " + argument.name + ": " + std::to_string(bytes) +
                                        " bytes from " + std::to_string(offset) +
                                        " on are outside its memory of " + std::to_string(size) +
                                        " bytes");
  ASSAY_TRY(mapped, sandbox::Mapping::map(fd, offset + bytes, false));
  payload.append(reinterpret_cast<const char*>(mapped.data()) + offset, bytes);
  return {};
}

json output_json(const sandbox::PreparedOutput& output) {
  return {{"name", output.name},
          {"dtype", output.dtype},
          {"shape", output.shape},
          {"nbytes", output.nbytes},
          {"from", output.from}};
}

/// Returns the case as a judge describes it (parse_described()). Seeds and places on a device stay
/// with the worker that launches.
json case_json(const PreparedCase& one, const std::vector<Argument>& arguments) {
  json outputs = json::array();
  for (const sandbox::PreparedOutput& output : one.outputs) outputs.push_back(output_json(output));
  return {{"id", one.id},
          {"seed", ""},
          {"fixed", one.fixed},
          {"arguments", sandbox::to_json(arguments)},
          {"structural", one.structural},
          {"inout", one.inout},
          {"axes", one.axes},
          {"outputs", std::move(outputs)},
          {"output_bytes", one.output_bytes},
          {"cost", {{"bytes", one.cost_bytes}, {"flops", one.cost_flops}}},
          {"layout", one.is_layout}};
}

/// Gives the frame the descriptors of the values, which are one after the other in the payload.
Status unpack_values(Frame& frame, const std::vector<std::int64_t>& sizes) {
  std::size_t at = 0;
  for (const std::int64_t size : sizes) {
    const auto bytes = static_cast<std::size_t>(size);
    if (bytes > frame.payload.size() - at)
      return fail(ErrorCode::corrupt, "record: the payload is shorter than its values");
    ASSAY_TRY(file, sandbox::create_sealed_memfd(
                        "assay-values", std::string_view(frame.payload).substr(at, bytes)));
    frame.fds.push_back(std::move(file));
    at += bytes;
  }
  if (at != frame.payload.size())
    return fail(ErrorCode::corrupt, "record: the payload is longer than its values");
  return {};
}

}  // namespace

bool is_order(std::string_view type) { return type == kRecordType || type == kDisassembleType; }

bool is_from_launcher(std::string_view type) {
  return std::find(kFromLauncher.begin(), kFromLauncher.end(), type) != kFromLauncher.end();
}

bool is_from_recorder(std::string_view type) {
  return std::find(kFromRecorder.begin(), kFromRecorder.end(), type) != kFromRecorder.end();
}

json recording_tagged(const char* type, const JobTag& tag, std::int64_t recording) {
  json header = tagged(type, tag);
  header["recording"] = recording;
  return header;
}

Result<std::int64_t> read_recording(const Frame& frame) {
  HeaderReader in(frame.header, frame.type());
  const std::int64_t recording = in.integer("recording", 1, kHighestInteger);
  ASSAY_RETURN_IF_ERROR(in.status());
  return recording;
}

Result<Message> record_message(const JobTag& tag, std::int64_t recording,
                               const sandbox::RecordRequest& request) {
  Message message{recording_tagged(kRecordType, tag, recording)};
  json cases = json::array(), sizes = json::array();
  for (const std::size_t i : request.cases) {
    const PreparedCase& one = request.prepared.cases[i];
    std::vector<Argument> arguments = one.arguments;
    for (Argument& argument : arguments) {
      const bool structural = std::find(one.structural.begin(), one.structural.end(),
                                        argument.name) != one.structural.end();
      if (!structural) argument.fd.reset();
      if (!argument.fd) continue;
      ASSAY_RETURN_IF_ERROR(append_bytes(message.payload, request.prepared, argument));
      argument.fd = static_cast<std::int64_t>(sizes.size());
      argument.offset = 0;
      sizes.push_back(argument.nbytes);
    }
    cases.push_back(case_json(one, arguments));
  }
  json& header = message.header;
  header["cases"] = std::move(cases);
  header["values"] = std::move(sizes);
  header["target"] = request.target;
  header["source"] = request.whose == RecordedSource::oracle ? kOracle : kSubmission;
  header["language"] = request.options.language;
  header["artifacts"] = request.options.artifacts;
  header["alternatives"] = request.options.alternatives;
  header["parallel"] = request.options.candidates > 1;
  header["asks"] = request.options.before_hidden != nullptr;
  return message;
}

Result<RecordingOrder> read_order(Frame& frame) {
  RecordingOrder order;
  HeaderReader in(frame.header, frame.type());
  order.recording = in.integer("recording", 1, kHighestInteger);
  order.target = in.text("target");
  if (frame.type() == kDisassembleType) {
    ASSAY_RETURN_IF_ERROR(in.status());
    order.plan = std::move(frame.payload);
    return order;
  }
  const std::string whose = in.text("source");
  if (whose != kSubmission && whose != kOracle) in.reject("`source` is submission or oracle");
  order.whose = whose == kOracle ? RecordedSource::oracle : RecordedSource::submission;
  order.options.language = in.text("language");
  order.options.artifacts = in.flag("artifacts");
  order.options.alternatives = in.flag("alternatives");
  order.options.candidates = in.flag("parallel") ? 2 : 1;
  order.asks = in.flag("asks");
  const std::vector<std::int64_t> sizes = in.integers("values", kMostValues, 0);
  ASSAY_RETURN_IF_ERROR(in.status());
  ASSAY_RETURN_IF_ERROR(unpack_values(frame, sizes));
  frame.header["type"] = "described";
  ASSAY_TRY(described, sandbox::parse_described(frame));
  order.prepared.cases = std::move(described.cases);
  order.prepared.fds = std::move(frame.fds);
  return order;
}

Message record_job_message(const sandbox::Job& job, std::int64_t attempt) {
  sandbox::Job bare = job;
  bare.operator_dir.clear();
  bare.input_seed.clear();  // the worker gets neither seeds nor references
  if (bare.reference) bare.reference->source.clear();
  Message message = job_message(bare, attempt);
  message.header["type"] = kRecordJobType;
  return message;
}

Message recorded_case_message(const JobTag& tag, std::int64_t recording, sandbox::CaseDone done) {
  Message message{recording_tagged(kRecordedCaseType, tag, recording), std::move(done.plan)};
  json fields = sandbox::to_header(done);
  fields.erase("type");
  message.header.update(fields);
  return message;
}

Result<sandbox::CaseDone> read_recorded_case(Frame& frame) {
  frame.header["type"] = "case";  // the message of a candidate has the same fields
  ASSAY_TRY(message, sandbox::parse_candidate(frame));
  return std::get<sandbox::CaseDone>(std::move(message));
}

Message recorded_message(const JobTag& tag, std::int64_t recording, const Recorded& recorded) {
  Message message{recording_tagged(kRecordedType, tag, recording),
                  tools::verdict_to_json(recorded.verdict)
                      .dump(-1, ' ', false, json::error_handler_t::replace)};
  message.header["ok"] = recorded.ok;
  message.header["reports_shortage"] = recorded.verdict.reports_shortage;
  return message;
}

Result<Recorded> read_recorded(const Frame& frame) {
  HeaderReader in(frame.header, kRecordedType);
  Recorded recorded;
  recorded.ok = in.flag("ok");
  const bool shortage = in.flag("reports_shortage");
  ASSAY_RETURN_IF_ERROR(in.status());
  const json document = json::parse(frame.payload, nullptr, false);
  if (document.is_discarded()) return fail(ErrorCode::corrupt, "recorded: the payload is not JSON");
  ASSAY_TRY(verdict, tools::verdict_from_json(document));
  recorded.verdict = std::move(verdict);
  recorded.verdict.reports_shortage = shortage;
  return recorded;
}

}  // namespace assay::server
