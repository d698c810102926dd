#include "sandbox/job/profile.h"

#include <array>
#include <utility>

namespace assay::sandbox {
namespace {

template <class Enum>
using Name = std::pair<Enum, std::string_view>;

constexpr std::array kDetails = {
    Name<ProfileDetail>{ProfileDetail::summary, "summary"},
    Name<ProfileDetail>{ProfileDetail::artifacts, "artifacts"},
    Name<ProfileDetail>{ProfileDetail::timeline, "timeline"},
    Name<ProfileDetail>{ProfileDetail::counters, "counters"},
    Name<ProfileDetail>{ProfileDetail::sass, "sass"},
    Name<ProfileDetail>{ProfileDetail::source, "source"},
    Name<ProfileDetail>{ProfileDetail::roofline, "roofline"},
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
std::string_view name_in(const Table& table, Enum value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "?";
}

template <class Enum, class Table>
std::optional<Enum> value_in(const Table& table, std::string_view text) {
  for (const auto& [known, name] : table) {
    if (name == text) return known;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(ProfileDetail detail) { return name_in(kDetails, detail); }
std::string_view to_string(Bound bound) { return name_in(kBounds, bound); }
std::string_view to_string(Evidence evidence) { return name_in(kEvidence, evidence); }
std::optional<ProfileDetail> profile_detail_from(std::string_view text) {
  return value_in<ProfileDetail>(kDetails, text);
}
std::optional<Bound> bound_from(std::string_view text) { return value_in<Bound>(kBounds, text); }
std::optional<Evidence> evidence_from(std::string_view text) {
  return value_in<Evidence>(kEvidence, text);
}

}  // namespace assay::sandbox
