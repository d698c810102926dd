// The names of the sandbox's enums, for tools/json/json_archive.h. They are those of
// sandbox/job/job.h and sandbox/job/profile.h: one table, one spelling.
#pragma once

#include <optional>
#include <string>

#include "sandbox/job/job.h"
#include "tools/json/json_archive.h"

namespace assay::tools::archive_detail {

template <class Enum, std::optional<Enum> (*From)(std::string_view)>
struct SandboxNames {
  static std::string to(Enum value) { return std::string(sandbox::to_string(value)); }
  static std::optional<Enum> from(const std::string& text) { return From(text); }
};

template <>
struct EnumNames<sandbox::JobKind> : SandboxNames<sandbox::JobKind, sandbox::job_kind_from> {};
template <>
struct EnumNames<sandbox::Outcome> : SandboxNames<sandbox::Outcome, sandbox::outcome_from> {};
template <>
struct EnumNames<sandbox::Tier> : SandboxNames<sandbox::Tier, sandbox::tier_from> {};
template <>
struct EnumNames<sandbox::Stage> : SandboxNames<sandbox::Stage, sandbox::stage_from> {};
template <>
struct EnumNames<sandbox::ErrorKind> : SandboxNames<sandbox::ErrorKind, sandbox::error_kind_from> {
};
template <>
struct EnumNames<sandbox::HintKind> : SandboxNames<sandbox::HintKind, sandbox::hint_kind_from> {};
template <>
struct EnumNames<sandbox::SkipReason>
    : SandboxNames<sandbox::SkipReason, sandbox::skip_reason_from> {};
template <>
struct EnumNames<sandbox::ProfileDetail>
    : SandboxNames<sandbox::ProfileDetail, sandbox::profile_detail_from> {};
template <>
struct EnumNames<sandbox::Bound> : SandboxNames<sandbox::Bound, sandbox::bound_from> {};
template <>
struct EnumNames<sandbox::Evidence> : SandboxNames<sandbox::Evidence, sandbox::evidence_from> {};

}  // namespace assay::tools::archive_detail
