#include "sandbox/job/job.h"

#include <array>
#include <cstddef>
#include <utility>

namespace assay::sandbox {
namespace {

template <class Enum>
using Name = std::pair<Enum, std::string_view>;

constexpr std::array kJobKinds = {
    Name<JobKind>{JobKind::compile, "compile"},
    Name<JobKind>{JobKind::test, "test"},
    Name<JobKind>{JobKind::profile, "profile"},
    Name<JobKind>{JobKind::grade, "grade"},
};

constexpr std::array kOutcomes = {
    Name<Outcome>{Outcome::pass, "pass"},
    Name<Outcome>{Outcome::fail, "fail"},
    Name<Outcome>{Outcome::error, "error"},
};

constexpr std::array kTiers = {
    Name<Tier>{Tier::plan, "plan"},
    Name<Tier>{Tier::host, "host"},
    Name<Tier>{Tier::interpreter, "interpreter"},
    Name<Tier>{Tier::none, "none"},
};

constexpr std::array kStages = {
    Name<Stage>{Stage::queue, "queue"},     Name<Stage>{Stage::import, "import"},
    Name<Stage>{Stage::compile, "compile"}, Name<Stage>{Stage::record, "record"},
    Name<Stage>{Stage::launch, "launch"},   Name<Stage>{Stage::run, "run"},
    Name<Stage>{Stage::judge, "judge"},     Name<Stage>{Stage::baseline, "baseline"},
    Name<Stage>{Stage::recheck, "recheck"}, Name<Stage>{Stage::done, "done"},
};

// The names of the kinds, in the order of the enum.
constexpr std::array kErrorKinds = {
    Name<ErrorKind>{ErrorKind::none, "none"},
    Name<ErrorKind>{ErrorKind::syntax_error, "syntax_error"},
    Name<ErrorKind>{ErrorKind::indentation_error, "indentation_error"},
    Name<ErrorKind>{ErrorKind::attribute_error, "attribute_error"},
    Name<ErrorKind>{ErrorKind::type_error, "type_error"},
    Name<ErrorKind>{ErrorKind::not_implemented_error, "not_implemented_error"},
    Name<ErrorKind>{ErrorKind::name_error, "name_error"},
    Name<ErrorKind>{ErrorKind::key_error, "key_error"},
    Name<ErrorKind>{ErrorKind::index_error, "index_error"},
    Name<ErrorKind>{ErrorKind::module_not_found, "module_not_found"},
    Name<ErrorKind>{ErrorKind::import_error, "import_error"},
    Name<ErrorKind>{ErrorKind::value_error, "value_error"},
    Name<ErrorKind>{ErrorKind::zero_division, "zero_division"},
    Name<ErrorKind>{ErrorKind::runtime_error, "runtime_error"},
    Name<ErrorKind>{ErrorKind::recursion_error, "recursion_error"},
    Name<ErrorKind>{ErrorKind::assertion_error, "assertion_error"},
    Name<ErrorKind>{ErrorKind::compilation_error, "compilation_error"},
    Name<ErrorKind>{ErrorKind::other_exception, "other_exception"},
    Name<ErrorKind>{ErrorKind::missing_entry, "missing_entry"},
    Name<ErrorKind>{ErrorKind::interface_mismatch, "interface_mismatch"},
    Name<ErrorKind>{ErrorKind::output_mismatch, "output_mismatch"},
    Name<ErrorKind>{ErrorKind::wrong_result, "wrong_result"},
    Name<ErrorKind>{ErrorKind::unattributed, "unattributed"},
    Name<ErrorKind>{ErrorKind::hidden_case, "hidden_case"},
    Name<ErrorKind>{ErrorKind::timeout, "timeout"},
    Name<ErrorKind>{ErrorKind::memory_limit, "memory_limit"},
    Name<ErrorKind>{ErrorKind::process_limit, "process_limit"},
    Name<ErrorKind>{ErrorKind::output_limit, "output_limit"},
    Name<ErrorKind>{ErrorKind::disk_limit, "disk_limit"},
    Name<ErrorKind>{ErrorKind::gpu_memory_limit, "gpu_memory_limit"},
    Name<ErrorKind>{ErrorKind::crash, "crash"},
    Name<ErrorKind>{ErrorKind::protocol_error, "protocol_error"},
    Name<ErrorKind>{ErrorKind::invalid_plan, "invalid_plan"},
    Name<ErrorKind>{ErrorKind::not_recordable, "not_recordable"},
    Name<ErrorKind>{ErrorKind::launch_failure, "launch_failure"},
    Name<ErrorKind>{ErrorKind::gpu_fault, "gpu_fault"},
    Name<ErrorKind>{ErrorKind::canary_violation, "canary_violation"},
    Name<ErrorKind>{ErrorKind::floor_violation, "floor_violation"},
    Name<ErrorKind>{ErrorKind::memory_error, "memory_error"},
    Name<ErrorKind>{ErrorKind::race, "race"},
    Name<ErrorKind>{ErrorKind::unsupported, "unsupported"},
    Name<ErrorKind>{ErrorKind::reference_error, "reference_error"},
    Name<ErrorKind>{ErrorKind::cancelled, "cancelled"},
    Name<ErrorKind>{ErrorKind::aborted, "aborted"},
    Name<ErrorKind>{ErrorKind::device_unhealthy, "device_unhealthy"},
    Name<ErrorKind>{ErrorKind::internal_error, "internal_error"},
};

// If an ErrorKind has no name, the compilation fails here.
static_assert(kErrorKinds.size() == static_cast<std::size_t>(ErrorKind::internal_error) + 1);

constexpr std::array kHintKinds = {
    Name<HintKind>{HintKind::other, "other"},
    Name<HintKind>{HintKind::would_be_slow, "would_be_slow"},
    Name<HintKind>{HintKind::spills, "spills"},
    Name<HintKind>{HintKind::low_occupancy, "low_occupancy"},
    Name<HintKind>{HintKind::many_launches, "many_launches"},
    Name<HintKind>{HintKind::no_own_kernel, "no_own_kernel"},
    Name<HintKind>{HintKind::not_recorded, "not_recorded"},
    Name<HintKind>{HintKind::unattributed_run, "unattributed_run"},
    Name<HintKind>{HintKind::not_deterministic, "not_deterministic"},
    Name<HintKind>{HintKind::oracle_not_recorded, "oracle_not_recorded"},
    Name<HintKind>{HintKind::oracle_not_timed, "oracle_not_timed"},
    Name<HintKind>{HintKind::oracle_block_missing, "oracle_block_missing"},
    Name<HintKind>{HintKind::pytorch_not_timed, "pytorch_not_timed"},
    Name<HintKind>{HintKind::times_not_trusted, "times_not_trusted"},
    Name<HintKind>{HintKind::times_all_fresh, "times_all_fresh"},
    Name<HintKind>{HintKind::artifact_too_large, "artifact_too_large"},
};
static_assert(kHintKinds.size() == static_cast<std::size_t>(HintKind::artifact_too_large) + 1);

constexpr std::array kSkipReasons = {
    Name<SkipReason>{SkipReason::other, "other"},
    Name<SkipReason>{SkipReason::too_many, "too_many"},
    Name<SkipReason>{SkipReason::dtype, "dtype"},
    Name<SkipReason>{SkipReason::too_large, "too_large"},
    Name<SkipReason>{SkipReason::reference, "reference"},
    Name<SkipReason>{SkipReason::hidden, "hidden"},
};
static_assert(kSkipReasons.size() == static_cast<std::size_t>(SkipReason::hidden) + 1);

constexpr std::array kDropReasons = {
    Name<DropReason>{DropReason::too_large, "too_large"},
    Name<DropReason>{DropReason::job_quota, "job_quota"},
    Name<DropReason>{DropReason::owner_quota, "owner_quota"},
    Name<DropReason>{DropReason::store_quota, "store_quota"},
    Name<DropReason>{DropReason::not_written, "not_written"},
};
static_assert(kDropReasons.size() == static_cast<std::size_t>(DropReason::not_written) + 1);

constexpr std::array kDetails = {
    Name<ProfileDetail>{ProfileDetail::summary, "summary"},
    Name<ProfileDetail>{ProfileDetail::artifacts, "artifacts"},
    Name<ProfileDetail>{ProfileDetail::timeline, "timeline"},
    Name<ProfileDetail>{ProfileDetail::counters, "counters"},
    Name<ProfileDetail>{ProfileDetail::sass, "sass"},
    Name<ProfileDetail>{ProfileDetail::source, "source"},
    Name<ProfileDetail>{ProfileDetail::roofline, "roofline"},
    Name<ProfileDetail>{ProfileDetail::sanitize, "sanitize"},
};
constexpr std::array kBounds = {
    Name<Bound>{Bound::memory, "memory"},
    Name<Bound>{Bound::compute, "compute"},
    Name<Bound>{Bound::latency, "latency"},
    Name<Bound>{Bound::launch, "launch"},
};
constexpr std::array kEvidence = {
    Name<Evidence>{Evidence::counters, "counters"},
    Name<Evidence>{Evidence::timing, "timing"},
    Name<Evidence>{Evidence::compiled, "compiled"},
};

template <class Table, class Enum>
std::string_view name_of(const Table& table, Enum value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "?";  // `value` is not an enumerator; value_of() rejects this name
}

template <class Enum, class Table>
std::optional<Enum> value_of(const Table& table, std::string_view text) {
  for (const auto& [known, name] : table) {
    if (name == text) return known;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(JobKind kind) { return name_of(kJobKinds, kind); }
std::string_view to_string(Outcome outcome) { return name_of(kOutcomes, outcome); }
std::string_view to_string(Tier tier) { return name_of(kTiers, tier); }
std::string_view to_string(Stage stage) { return name_of(kStages, stage); }
std::string_view to_string(ErrorKind kind) { return name_of(kErrorKinds, kind); }
std::string_view to_string(HintKind kind) { return name_of(kHintKinds, kind); }
std::string_view to_string(SkipReason reason) { return name_of(kSkipReasons, reason); }
std::string_view to_string(DropReason reason) { return name_of(kDropReasons, reason); }
std::string_view to_string(ProfileDetail detail) { return name_of(kDetails, detail); }
std::string_view to_string(Bound bound) { return name_of(kBounds, bound); }
std::string_view to_string(Evidence evidence) { return name_of(kEvidence, evidence); }

std::optional<JobKind> job_kind_from(std::string_view text) {
  return value_of<JobKind>(kJobKinds, text);
}
std::optional<Outcome> outcome_from(std::string_view text) {
  return value_of<Outcome>(kOutcomes, text);
}
std::optional<Tier> tier_from(std::string_view text) { return value_of<Tier>(kTiers, text); }
std::optional<Stage> stage_from(std::string_view text) { return value_of<Stage>(kStages, text); }
std::optional<ErrorKind> error_kind_from(std::string_view text) {
  return value_of<ErrorKind>(kErrorKinds, text);
}
std::optional<HintKind> hint_kind_from(std::string_view text) {
  return value_of<HintKind>(kHintKinds, text);
}
std::optional<SkipReason> skip_reason_from(std::string_view text) {
  return value_of<SkipReason>(kSkipReasons, text);
}
std::optional<DropReason> drop_reason_from(std::string_view text) {
  return value_of<DropReason>(kDropReasons, text);
}
std::optional<ProfileDetail> profile_detail_from(std::string_view text) {
  return value_of<ProfileDetail>(kDetails, text);
}
std::optional<Bound> bound_from(std::string_view text) { return value_of<Bound>(kBounds, text); }
std::optional<Evidence> evidence_from(std::string_view text) {
  return value_of<Evidence>(kEvidence, text);
}

bool is_infrastructure_error(ErrorKind kind) {
  return kind == ErrorKind::aborted || kind == ErrorKind::device_unhealthy ||
         kind == ErrorKind::internal_error;
}

bool is_inconclusive(ErrorKind kind) {
  return kind == ErrorKind::cancelled || kind == ErrorKind::reference_error ||
         is_infrastructure_error(kind);
}

std::vector<std::string> lines_of(const std::vector<SkippedCases>& skipped) {
  std::vector<std::pair<std::string, std::string>> cases_of_reasons;
  const auto add = [&](const std::string& reason, const std::string& cases) {
    for (auto& [text, names] : cases_of_reasons) {
      if (text != reason) continue;
      names += ", " + cases;
      return;
    }
    cases_of_reasons.emplace_back(reason, cases);
  };
  for (const SkippedCases& skip : skipped) {
    for (const std::string& id : skip.ids) add(skip.text, id);
    if (skip.hidden > 0) add(skip.text, std::to_string(skip.hidden) + " hidden");
  }
  std::vector<std::string> lines;
  for (const auto& [reason, cases] : cases_of_reasons) lines.push_back(cases + ": " + reason);
  return lines;
}

bool takes_language(std::string_view dialect, std::string_view language) {
  return language == kPython || (language == kCudaCpp && dialect == "triton");
}

}  // namespace assay::sandbox
