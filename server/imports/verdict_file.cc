#include "server/imports/verdict_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/handle.h"
#include "base/json.h"
#include "base/json_depth.h"
#include "base/text.h"

namespace assay::imports {
namespace {

using nlohmann::json;
using sandbox::ErrorKind;
using sandbox::Outcome;

constexpr std::int64_t kLastUnixMs = 4'102'444'800'000;  // the year 2100
constexpr std::size_t kVerdictValues = 4;                // operator, error kind, stage, tier

/// The kinds of a verdict whose outcome is `fail`: the submission ran to its end. All other kinds
/// are errors.
constexpr std::array kFailures = {ErrorKind::wrong_result, ErrorKind::output_mismatch,
                                  ErrorKind::unattributed, ErrorKind::floor_violation,
                                  ErrorKind::memory_error, ErrorKind::race};

/// Reads members of a JSON object. The first member that is wrong sets the error, and later calls
/// return empty values.
class FileReader {
 public:
  explicit FileReader(const VerdictFileLimits& limits) : limits_(limits) {}

  void refuse(const std::string& why, ErrorCode code = ErrorCode::corrupt) {
    if (status_) status_ = fail(code, "the file of verdicts is refused: " + why);
  }
  std::string text(const json& object, const char* key, std::size_t most) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_string()) {
      refuse(std::string("the text ") + key + " is missing");
      return "";
    }
    if (found->get_ref<const std::string&>().size() <= most) return found->get<std::string>();
    refuse(std::string(key) + " has more than " + std::to_string(most) + " bytes",
           ErrorCode::resource_exhausted);
    return "";
  }
  std::string name(const json& object, const char* key) {
    std::string found = text(object, key, limits_.name_bytes);
    if (is_one_line(found)) return found;
    refuse(std::string(key) + " has a control character or a line break");
    return "";
  }
  const json& list(const json& object, const char* key, std::size_t most) {
    static const json nothing = json::array();
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_array()) {
      refuse(std::string("the list ") + key + " is missing");
      return nothing;
    }
    if (found->size() <= most) return *found;
    refuse(std::string(key) + " has more than " + std::to_string(most) + " entries",
           ErrorCode::resource_exhausted);
    return nothing;
  }
  Status& status() { return status_; }

 private:
  const VerdictFileLimits& limits_;
  Status status_;
};

/// Reads [operator, error kind, stage, tier], or [operator, null] for a submission without a
/// verdict.
FileVerdict verdict_of(const json& values, std::size_t operators, FileReader& reader) {
  FileVerdict verdict;
  if (!values.is_array() || values.empty() || !values[0].is_number_unsigned() ||
      values[0].get<std::uint64_t>() >= operators) {
    reader.refuse("a verdict does not begin with the index of an operator");
    return verdict;
  }
  verdict.operator_index = values[0].get<std::size_t>();
  if (values.size() == 2 && values[1].is_null()) return verdict;
  const bool has_texts = values.size() == kVerdictValues && values[1].is_string() &&
                         values[2].is_string() && values[3].is_string();
  const auto text = [&](std::size_t at) {
    return has_texts ? values[at].get<std::string>() : std::string();
  };
  const auto kind = sandbox::error_kind_from(text(1));
  const auto stage = sandbox::stage_from(text(2));
  const auto tier = sandbox::tier_from(text(3));
  if (!kind || !stage || !tier) {
    reader.refuse("a verdict is not [operator, kind of error, stage, tier] with known values");
    return verdict;
  }
  verdict.is_judged = true;
  verdict.error_kind = *kind;
  verdict.stage = *stage;
  verdict.tier = *tier;
  return verdict;
}

void read_operators(const json& document, const VerdictFileLimits& limits, FileReader& reader,
                    VerdictFile& file) {
  std::set<std::string> different;
  for (const json& one : reader.list(document, "operators", limits.operators)) {
    const std::string name = one.is_string() ? one.get<std::string>() : std::string();
    // The store keeps the names of a run's operators in one text, with commas between them.
    if (name.empty() || name.size() > limits.name_bytes || !is_one_line(name) ||
        name.find(',') != std::string::npos || !different.insert(name).second)
      return reader.refuse(
          "operators must have different names without commas, control characters and line breaks");
    file.operators.push_back(name);
  }
}

FileRun run_of(const json& one, const VerdictFile& file, FileReader& reader) {
  FileRun run;
  run.agent = reader.name(one, "agent");
  run.model = reader.name(one, "model");
  std::set<std::size_t> seen;
  for (const json& values : reader.list(one, "verdicts", file.operators.size())) {
    run.verdicts.push_back(verdict_of(values, file.operators.size(), reader));
    if (!reader.status()) return run;
    if (!seen.insert(run.verdicts.back().operator_index).second)
      reader.refuse("a run has two verdicts on one operator");
  }
  if (run.verdicts.empty()) reader.refuse("a run has no verdict");
  return run;
}

sandbox::Verdict stored_verdict(const VerdictFile& file, const FileVerdict& found,
                                const sandbox::Job& job) {
  sandbox::Verdict verdict;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.error_kind = found.error_kind;
  verdict.stage = found.stage;
  verdict.tier = found.tier;
  const bool is_failure =
      std::find(kFailures.begin(), kFailures.end(), found.error_kind) != kFailures.end();
  verdict.outcome = found.error_kind == ErrorKind::none ? Outcome::pass
                    : is_failure                        ? Outcome::fail
                                                        : Outcome::error;
  verdict.tells_hidden = false;
  verdict.provenance.device = file.device;
  verdict.provenance.device_name = file.device_name;
  verdict.provenance.triton = file.triton;
  verdict.provenance.torch = file.torch;
  verdict.provenance.suite_id = {file.suite_name, file.suite_version, ""};
  return verdict;
}

server::ImportedRun stored_run(const VerdictFile& file, const FileRun& found) {
  server::ImportedRun run;
  run.info.handle = new_handle("run");
  run.info.request = {found.agent, found.model, file.track, file.suite_name};
  run.info.budgets = {.compiles = 0, .tests = 0, .profiles = 0, .submissions = 1, .run_wall_s = 0};
  run.info.suite_id = {file.suite_name, file.suite_version, ""};
  run.info.created_unix_ms = file.judged_unix_ms;
  run.info.expires_unix_ms = file.judged_unix_ms;
  run.provenance = file.provenance;
  for (const FileVerdict& one : found.verdicts) {
    run.info.operators.push_back(file.operators[one.operator_index]);
    if (!one.is_judged) continue;
    sandbox::Job job;
    job.id = new_handle("job");
    job.run = run.info.handle;
    job.kind = sandbox::JobKind::grade;
    job.operator_name = run.info.operators.back();
    sandbox::Verdict verdict = stored_verdict(file, one, job);
    run.jobs.push_back({std::move(job), file.device, std::move(verdict)});
  }
  return run;
}

}  // namespace

Result<VerdictFile> parse_verdict_file(std::string_view text, const VerdictFileLimits& limits) {
  FileReader reader(limits);
  const Result<json> parsed = parse_json(text, limits.depth);
  if (!parsed) reader.refuse("it " + parsed.error().message);
  const json document = parsed.value_or(json());
  VerdictFile file;
  file.sha256 = sha256_hex(text);
  if (reader.name(document, "format") != kVerdictFormat)
    reader.refuse(std::string("its format is not ") + kVerdictFormat);
  file.provenance = reader.text(document, "provenance", limits.provenance_bytes);
  const json suite = document.is_object() ? document.value("suite", json()) : json();
  file.suite_name = reader.name(suite, "name");
  file.suite_version = reader.name(suite, "version");
  if (file.provenance.empty() || file.suite_name.empty())
    reader.refuse("the provenance or the name of the suite is empty");
  file.device = reader.name(document, "device");
  file.device_name = reader.name(document, "device_name");
  file.triton = reader.name(document, "triton");
  file.torch = reader.name(document, "torch");
  if (const auto track = tools::track_from(reader.name(document, "track")))
    file.track = *track;
  else
    reader.refuse("its track is unknown; valid: " + tools::track_names());
  if (!reader.status()) return fail(reader.status().error());
  const json judged = document.value("judged_unix_ms", json());
  if (judged.is_number_unsigned() && judged.get<std::uint64_t>() <= kLastUnixMs)
    file.judged_unix_ms = judged.get<std::int64_t>();
  else
    reader.refuse("judged_unix_ms is not between 0 and " + std::to_string(kLastUnixMs));
  read_operators(document, limits, reader, file);
  if (!reader.status()) return fail(reader.status().error());
  for (const json& one : reader.list(document, "runs", limits.runs)) {
    file.runs.push_back(run_of(one, file, reader));
    if (!reader.status()) break;
  }
  if (!reader.status()) return fail(reader.status().error());
  return file;
}

Result<std::size_t> import_verdicts(server::Store& store, const VerdictFile& file,
                                    const std::vector<std::string>& models) {
  std::set<std::string> known;
  for (const FileRun& run : file.runs) known.insert(run.model);
  for (const std::string& model : models) {
    if (known.count(model) == 0)
      return fail(ErrorCode::not_found, "the file has no model '" + escape_line(model) +
                                            "'; it has " + escape_line(join(known)));
  }
  std::size_t written = 0;
  const auto is_chosen = [&models](const FileRun& run) {
    return models.empty() || std::find(models.begin(), models.end(), run.model) != models.end();
  };
  auto place = file.runs.begin();
  ASSAY_RETURN_IF_ERROR(
      store.add_imported_runs(file.sha256, [&]() -> std::optional<server::ImportedRun> {
        place = std::find_if(place, file.runs.end(), is_chosen);
        if (place == file.runs.end()) return std::nullopt;
        ++written;
        return stored_run(file, *place++);
      }));
  return written;
}

}  // namespace assay::imports
