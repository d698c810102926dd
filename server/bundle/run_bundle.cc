#include "server/bundle/run_bundle.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/base64.h"
#include "base/handle.h"
#include "base/json.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "tools/json/verdict_json.h"

namespace assay::bundle {
namespace {

using nlohmann::json;

constexpr std::int64_t kLastUnixMs = 4'102'444'800'000;  // the year 2100
constexpr std::size_t kShownBytes = 60;                  // of a hostile text in a message

/// Reads members of a JSON object. The first member that is wrong sets the error, and later calls
/// return empty values.
class Reader {
 public:
  Reader(const BundleLimits& limits, Status& status) : limits_(limits), status_(status) {}

  void refuse(const std::string& why, ErrorCode code = ErrorCode::corrupt) {
    if (status_) status_ = fail(code, "the bundle is refused: " + why);
  }
  const json& member(const json& object, const char* key, json::value_t type) {
    static const json nothing;
    const auto found = object.is_object() ? object.find(key) : object.end();
    const bool is_number = type == json::value_t::number_float && object.is_object() &&
                           found != object.end() && found->is_number();
    if (!object.is_object() || found == object.end() ||
        (found->type() != type && !is_number &&
         !(type == json::value_t::number_integer && found->is_number_integer()))) {
      refuse(std::string("the member ") + key + " is missing or has another type");
      return nothing;
    }
    return *found;
  }
  std::string text(const json& object, const char* key, std::size_t most) {
    const json& value = member(object, key, json::value_t::string);
    if (!value.is_string()) return "";
    const auto& found = value.get_ref<const std::string&>();
    if (found.size() > most) {
      refuse(std::string(key) + " has more than " + std::to_string(most) + " bytes",
             ErrorCode::resource_exhausted);
      return "";
    }
    return found;
  }
  std::string name(const json& object, const char* key) {
    std::string found = text(object, key, limits_.name_bytes);
    if (is_one_line(found)) return found;
    refuse(std::string(key) + " has a control character or a line break");
    return "";
  }
  std::int64_t integer(const json& object, const char* key, std::int64_t most) {
    const json& value = member(object, key, json::value_t::number_integer);
    if (!value.is_number_integer()) return 0;
    const bool fits = !value.is_number_unsigned() ||
                      value.get<std::uint64_t>() <=
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::int64_t found = fits ? value.get<std::int64_t>() : -1;
    if (found >= 0 && found <= most) return found;
    refuse(std::string(key) + " is not between 0 and " + std::to_string(most));
    return 0;
  }
  std::string handle(const json& object, const char* key) {
    std::string found = name(object, key);
    if (status_ && !is_handle(found, key))
      refuse("'" + escape_line(found.substr(0, kShownBytes)) + "' is no handle of a " + key);
    return found;
  }
  std::vector<std::string> names(const json& object, const char* key) {
    std::vector<std::string> found;
    const json& list = member(object, key, json::value_t::array);
    if (list.is_array() && list.size() > limits_.operators)
      refuse(std::string(key) + " has more than " + std::to_string(limits_.operators) + " names",
             ErrorCode::resource_exhausted);
    if (!status_) return found;
    for (const json& one : list) {
      if (!one.is_string() || one.get_ref<const std::string&>().size() > limits_.name_bytes ||
          !is_one_line(one.get_ref<const std::string&>()))
        refuse(std::string(key) +
               " must have short texts without control characters and line breaks");
      else
        found.push_back(one.get<std::string>());
    }
    return found;
  }
  bool ok() const { return static_cast<bool>(status_); }

 private:
  const BundleLimits& limits_;
  Status& status_;
};

tools::JobState state_from(const std::string& text, Reader& reader) {
  for (const auto state :
       {tools::JobState::finished, tools::JobState::cancelled, tools::JobState::aborted}) {
    if (tools::to_string(state) == text) return state;
  }
  reader.refuse("a job must be finished, cancelled or aborted");
  return tools::JobState::finished;
}

void read_run(const json& document, Reader& reader, RunBundle& bundle) {
  const json& run = reader.member(document, "run", json::value_t::object);
  bundle.run.handle = reader.handle(run, "run");
  bundle.run.request.agent = reader.name(run, "agent");
  bundle.run.request.model = reader.name(run, "model");
  const auto track = tools::track_from(reader.name(run, "track"));
  if (track)
    bundle.run.request.track = *track;
  else
    reader.refuse("its track is unknown");
  bundle.run.request.suite = reader.text(run, "suite", kMaxEnvelopeBytes);
  bundle.run.operators = reader.names(run, "operators");
  // The store keeps the names in one text, with commas between them.
  const bool splits = std::any_of(
      bundle.run.operators.begin(), bundle.run.operators.end(),
      [](const std::string& name) { return name.empty() || name.find(',') != std::string::npos; });
  const std::set<std::string> different(bundle.run.operators.begin(), bundle.run.operators.end());
  if (splits || different.size() != bundle.run.operators.size())
    reader.refuse("its operators must have different names without commas");
  bundle.run.suite_id = {reader.name(run, "suite_name"), reader.name(run, "suite_version"),
                         reader.name(run, "suite_digest")};
  bundle.run.created_unix_ms = reader.integer(run, "created_unix_ms", kLastUnixMs);
  bundle.run.expires_unix_ms = reader.integer(run, "expires_unix_ms", kLastUnixMs);
}

void read_usage(const json& document, Reader& reader, RunBundle& bundle) {
  const json& usage = reader.member(document, "usage", json::value_t::object);
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 50;
  constexpr double kMostDollars = 1e12;
  bundle.usage.input_tokens = reader.integer(usage, "input_tokens", kMostTokens);
  bundle.usage.output_tokens = reader.integer(usage, "output_tokens", kMostTokens);
  const json& cost = reader.member(usage, "cost_usd", json::value_t::number_float);
  const json& known = reader.member(usage, "cost_known", json::value_t::boolean);
  if (!reader.ok()) return;
  bundle.usage.cost_usd = cost.get<double>();
  bundle.usage.cost_known = known.get<bool>();
  if (!(bundle.usage.cost_usd >= 0 && bundle.usage.cost_usd <= kMostDollars))
    reader.refuse("its cost is not between 0 and 1e12 dollars");
}

void read_plans(const json& job, const BundleLimits& limits, Reader& reader, BundledJob& found) {
  const json& plans = reader.member(job, "plans", json::value_t::object);
  if (!reader.ok()) return;
  for (const auto& [name, value] : plans.items()) {
    std::optional<std::string> bytes =
        value.is_string() ? base64_decode(value.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes || name.size() > limits.name_bytes || bytes->size() > limits.plan_bytes)
      return reader.refuse("a plan is no base64, or its bytes or its name are too many");
    found.plans.emplace(name, std::move(*bytes));
  }
}

BundledJob read_job(const json& job, const RunBundle& bundle, const BundleLimits& limits,
                    Reader& reader) {
  BundledJob found;
  found.job = reader.handle(job, "job");
  found.operator_name = reader.name(job, "operator");
  found.device = reader.name(job, "device");
  found.language = reader.name(job, "language");
  found.source = reader.text(job, "source", limits.source_bytes);
  found.queued_unix_ms = reader.integer(job, "queued_unix_ms", kLastUnixMs);
  found.finished_unix_ms = reader.integer(job, "finished_unix_ms", kLastUnixMs);
  found.state = state_from(reader.name(job, "state"), reader);
  const auto kind = sandbox::job_kind_from(reader.name(job, "kind"));
  if (kind)
    found.kind = *kind;
  else
    reader.refuse("the kind of a job is unknown");
  read_plans(job, limits, reader, found);
  const json& document = reader.member(job, "verdict", json::value_t::object);
  if (!reader.ok()) return found;
  Result<sandbox::Verdict> verdict = tools::verdict_from_json(document);
  if (!verdict) {
    reader.refuse("a verdict cannot be read: " + verdict.error().message);
    return found;
  }
  found.verdict = std::move(*verdict);
  const auto& operators = bundle.run.operators;
  if (found.verdict.job != found.job || found.verdict.kind != found.kind ||
      found.verdict.operator_name != found.operator_name)
    reader.refuse("the verdict of " + found.job + " is that of another job");
  else if (std::find(operators.begin(), operators.end(), found.operator_name) == operators.end())
    reader.refuse(found.job + " has an operator that the run does not have");
  return found;
}

/// Bundles of older versions have no transcripts.
void read_transcripts(const json& document, const BundleLimits& limits, Reader& reader,
                      RunBundle& bundle) {
  if (!reader.ok() || !document.contains("transcripts")) return;
  const json& found = reader.member(document, "transcripts", json::value_t::object);
  if (!reader.ok()) return;
  const auto& operators = bundle.run.operators;
  std::size_t bytes = 0;
  for (const auto& [name, value] : found.items()) {
    if (std::find(operators.begin(), operators.end(), name) == operators.end())
      return reader.refuse("it has a transcript of an operator that the run does not have");
    Result<transcripts::Transcript> one = transcripts::transcript_from(value, limits.transcript);
    if (!one) return reader.refuse(one.error().message, one.error().code);
    for (const transcripts::TranscriptStep& step : one->steps) bytes += step.text.size();
    if (bytes > limits.all_transcript_bytes)
      return reader.refuse("its transcripts have too many bytes", ErrorCode::resource_exhausted);
    bundle.transcripts.emplace(name, std::move(*one));
  }
}

json job_json(const BundledJob& job) {
  json plans = json::object();
  for (const auto& [name, bytes] : job.plans) plans[name] = base64_encode(bytes);
  json verdict = tools::verdict_to_json(job.verdict);
  return {{"job", job.job},
          {"operator", job.operator_name},
          {"device", job.device},
          {"language", job.language},
          {"kind", sandbox::to_string(job.kind)},
          {"state", tools::to_string(job.state)},
          {"source", job.source},
          {"queued_unix_ms", job.queued_unix_ms},
          {"finished_unix_ms", job.finished_unix_ms},
          {"verdict", std::move(verdict)},
          {"plans", std::move(plans)}};
}

}  // namespace

std::string payload_of(const RunBundle& bundle) {
  json jobs = json::array();
  for (const BundledJob& job : bundle.jobs) jobs.push_back(job_json(job));
  json kept = json::object();
  for (const auto& [name, transcript] : bundle.transcripts)
    kept[name] = transcripts::transcript_json(transcript);
  const tools::RunInfo& run = bundle.run;
  const json document = {{"format", kPayloadFormat},
                         {"assay", bundle.assay},
                         {"run",
                          {{"run", run.handle},
                           {"agent", run.request.agent},
                           {"model", run.request.model},
                           {"track", tools::to_string(run.request.track)},
                           {"suite", run.request.suite},
                           {"operators", run.operators},
                           {"suite_name", run.suite_id.name},
                           {"suite_version", run.suite_id.version},
                           {"suite_digest", run.suite_id.digest},
                           {"created_unix_ms", run.created_unix_ms},
                           {"expires_unix_ms", run.expires_unix_ms}}},
                         {"usage",
                          {{"input_tokens", bundle.usage.input_tokens},
                           {"output_tokens", bundle.usage.output_tokens},
                           {"cost_usd", bundle.usage.cost_usd},
                           {"cost_known", bundle.usage.cost_known}}},
                         {"devices", bundle.devices},
                         {"jobs", std::move(jobs)},
                         {"transcripts", std::move(kept)}};
  return json_text(document);
}

Result<std::string> write_bundle(const RunBundle& bundle, const SigningKey& key) {
  return seal(kPayloadType, payload_of(bundle), key);
}

Result<RunBundle> parse_payload(std::string_view payload, const BundleLimits& limits) {
  Status status;
  Reader reader(limits, status);
  const Result<json> parsed = parse_json(payload, limits.depth);
  if (!parsed)
    return fail(ErrorCode::corrupt, "the bundle is refused: it " + parsed.error().message);
  const json& document = *parsed;
  if (reader.name(document, "format") != kPayloadFormat)
    reader.refuse(std::string("its format is not ") + kPayloadFormat);
  RunBundle bundle;
  bundle.assay = reader.name(document, "assay");
  read_run(document, reader, bundle);
  read_usage(document, reader, bundle);
  bundle.devices = reader.names(document, "devices");
  const json& jobs = reader.member(document, "jobs", json::value_t::array);
  if (jobs.is_array() && jobs.size() > limits.jobs)
    reader.refuse("it has more than " + std::to_string(limits.jobs) + " jobs",
                  ErrorCode::resource_exhausted);
  std::set<std::string> handles;
  std::size_t plan_bytes = 0;
  for (std::size_t i = 0; reader.ok() && i < jobs.size(); ++i) {
    bundle.jobs.push_back(read_job(jobs[i], bundle, limits, reader));
    const BundledJob& job = bundle.jobs.back();
    for (const auto& [name, bytes] : job.plans) plan_bytes += bytes.size();
    if (!handles.insert(job.job).second) reader.refuse("two jobs have the handle " + job.job);
    if (plan_bytes > limits.all_plan_bytes)
      reader.refuse("its plans have too many bytes", ErrorCode::resource_exhausted);
  }
  read_transcripts(document, limits, reader, bundle);
  if (!status) return fail(status.error());
  return bundle;
}

Result<RunBundle> read_bundle(std::string_view file, const BundleLimits& limits) {
  ASSAY_TRY(opened, open_envelope(file, kPayloadType));
  ASSAY_TRY(bundle, parse_payload(opened.payload, limits));
  bundle.fingerprint = opened.fingerprint;
  return std::move(bundle);
}

}  // namespace assay::bundle
