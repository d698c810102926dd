#include "sandbox/sanitize/report_xml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sandbox/sanitize/xml_tree.h"

namespace assay::sandbox {
namespace {

constexpr std::string_view kRoot = "ComputeSanitizerOutput";
constexpr std::size_t kMaxFindingTextBytes = 300, kMaxPlaceBytes = 200, kMaxAddressBytes = 20;
constexpr std::size_t kMaxPlaces = 2;
// The names of a submission's source file in a candidate.
constexpr std::array<std::string_view, 2> kSubmissions = {"submission.py", "submission.cu"};

enum class Meaning {
  finding,  // a mistake of the kernel
  other,    // says nothing about the kernel
  trouble,  // the sanitizer could not do its work
};

/// A kind of record, in lower case and without spaces.
struct RecordKind {
  std::string_view name;
  Meaning meaning;
};

// The kinds of records that versions 2022 to 2026 of Compute Sanitizer can write.
constexpr std::array kRecordKinds = {
    RecordKind{"precise", Meaning::finding},
    RecordKind{"imprecise", Meaning::finding},
    RecordKind{"mallocfree", Meaning::finding},
    RecordKind{"malloc/free", Meaning::finding},
    RecordKind{"stackoverflow", Meaning::finding},
    RecordKind{"syscall", Meaning::finding},
    RecordKind{"clusterentryexit", Meaning::finding},
    RecordKind{"fabricguardrail", Meaning::finding},
    RecordKind{"tcgen05guardrail", Meaning::finding},
    RecordKind{"stream-orderedrace", Meaning::finding},
    RecordKind{"analysis", Meaning::finding},
    RecordKind{"hazard", Meaning::finding},
    RecordKind{"race", Meaning::finding},
    RecordKind{"racecheck", Meaning::finding},
    RecordKind{"racecondition", Meaning::finding},
    RecordKind{"globalhazard", Meaning::finding},
    RecordKind{"initcheck", Meaning::finding},
    RecordKind{"synccheck", Meaning::finding},
    RecordKind{"api", Meaning::other},  // a failed call of the driver, which the launcher reports
    RecordKind{"initcheckapierror", Meaning::other},
    RecordKind{"launchinfo", Meaning::other},
    RecordKind{"leak", Meaning::other},
    RecordKind{"synclog", Meaning::other},
    RecordKind{"unusedmemory", Meaning::other},
    RecordKind{"sanitizer", Meaning::trouble},
    RecordKind{"internal", Meaning::trouble},
};

/// A level of a record. `counts` is true if a record of this level can be a finding. Warnings are
/// not findings. For example, racecheck warns about code that relies on the threads of a warp
/// running together, and such code may be correct.
struct RecordLevel {
  std::string_view name;
  bool counts;
};
constexpr std::array kRecordLevels = {
    RecordLevel{"", true},         RecordLevel{"error", true}, RecordLevel{"fatal", true},
    RecordLevel{"warning", false}, RecordLevel{"warn", false}, RecordLevel{"info", false},
};

std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kMaxPlaceBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte) == 0) name += static_cast<char>(std::tolower(byte));
  }
  return name;
}

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const auto first = text.find_first_not_of(kSpaces);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

/// Returns the text of a child on one line. Returns an empty text if there is no such child.
std::string text_in(const XmlElement& element, std::string_view name, std::size_t most) {
  const XmlElement* child = element.child(name);
  if (child == nullptr) return {};
  std::string text(without_spaces(child->text).substr(0, most));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::optional<std::int64_t> number_in(const XmlElement& element, std::string_view name) {
  const std::string text = text_in(element, name, kMaxPlaceBytes);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// Calls visit(element) for the element and all elements below it, in the order of the document.
/// Leaves out the stack of the host, because it shows only code of the launcher.
template <class Visit>
void walk(const XmlElement& element, const Visit& visit) {
  if (element.name == "hostStack") return;
  visit(element);
  for (const XmlElement& child : element.children) walk(child, visit);
}

std::string file_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (std::find(kSubmissions.begin(), kSubmissions.end(), name) != kSubmissions.end()) return {};
  const auto slash = path.rfind('/');
  const auto before = slash == path.npos || slash == 0 ? path.npos : path.rfind('/', slash - 1);
  return std::string(before == path.npos ? path : path.substr(before + 1));
}

std::string line_of_source(std::string_view source, std::int64_t line) {
  for (; line > 1 && !source.empty(); --line)
    source.remove_prefix(std::min(source.find('\n'), source.size() - 1) + 1);
  return std::string(without_spaces(source.substr(0, source.find('\n'))).substr(0, kMaxPlaceBytes));
}

std::vector<SanitizerPlace> places_in(const XmlElement& record, std::string_view source) {
  std::vector<SanitizerPlace> places;
  std::vector<SanitizerPlace> others;
  walk(record, [&](const XmlElement& element) {
    if (element.child("func") == nullptr) return;
    SanitizerPlace place;
    place.kernel = text_in(element, "func", kMaxPlaceBytes);
    place.kernel = place.kernel.substr(0, place.kernel.find('('));
    const std::string path = text_in(element, "path", kMaxPlaceBytes);
    const bool own = !path.empty() && file_of(path).empty();
    place.file = file_of(path);
    place.line = number_in(element, "line").value_or(0);
    if (own && place.line > 0) place.code = line_of_source(source, place.line);
    (own ? places : others).push_back(std::move(place));
  });
  places.insert(places.end(), others.begin(), others.end());
  if (places.size() > kMaxPlaces) places.resize(kMaxPlaces);
  return places;
}

/// Returns x, y and z of the first element of this name in a record. Returns an empty list if there
/// is no such element.
std::vector<std::int64_t> index_in(const XmlElement& record, std::string_view name) {
  std::vector<std::int64_t> index;
  walk(record, [&](const XmlElement& element) {
    if (element.name != name || !index.empty()) return;
    for (const char* axis : {"x", "y", "z"}) {
      const std::optional<std::int64_t> value = number_in(element, axis);
      if (!value) return index.clear();
      index.push_back(*value);
    }
  });
  return index;
}

std::string address_in(const XmlElement& record) {
  std::string address;
  walk(record, [&](const XmlElement& element) {
    for (const char* name : {"accessAddress", "address", "errorAddress"}) {
      if (address.empty()) address = text_in(element, name, kMaxAddressBytes);
    }
  });
  return address;
}

std::string description_in(const XmlElement& record) {
  std::string text;
  walk(record, [&](const XmlElement& element) {
    if (text.empty()) text = text_in(element, "text", kMaxFindingTextBytes);
  });
  return text;
}

/// Returns the finding of a record, or nothing if the record is not a finding.
Result<std::optional<SanitizerFinding>> finding_in(const XmlElement& record, SanitizerTool tool,
                                                   std::string_view source) {
  const std::string kind_text = text_in(record, "kind", kMaxPlaceBytes);
  const std::string level_text = text_in(record, "level", kMaxPlaceBytes);
  const std::string name = plain_name(kind_text), level_name = plain_name(level_text);
  const auto kind = std::find_if(kRecordKinds.begin(), kRecordKinds.end(),
                                 [&](const RecordKind& one) { return one.name == name; });
  const auto level = std::find_if(kRecordLevels.begin(), kRecordLevels.end(),
                                  [&](const RecordLevel& one) { return one.name == level_name; });
  if (kind == kRecordKinds.end())
    return fail(ErrorCode::corrupt, "a record of the unknown kind '" + kind_text + "'");
  if (level == kRecordLevels.end())
    return fail(ErrorCode::corrupt, "a record of the unknown level '" + level_text + "'");
  const std::string text = description_in(record);
  if (kind->meaning == Meaning::trouble)
    return fail(ErrorCode::unavailable, "the sanitizer reports an error of its own: " + text);
  if (kind->meaning == Meaning::other || !level->counts) return std::nullopt;
  return SanitizerFinding{.tool = tool,
                          .text = text.empty() ? kind_text : text,
                          .places = places_in(record, source),
                          .address = address_in(record),
                          .thread = index_in(record, "threadIdx"),
                          .block = index_in(record, "blockIdx")};
}

}  // namespace

Result<std::vector<SanitizerFinding>> read_sanitizer_report(std::string_view xml,
                                                            SanitizerTool tool,
                                                            std::string_view source) {
  const Result<XmlElement> root = read_xml(xml);
  if (!root) return fail(root.error());
  if (root->name != kRoot)
    return fail(ErrorCode::corrupt, "the report's root is '" + root->name + "'");
  std::vector<SanitizerFinding> findings;
  for (const XmlElement& record : root->children) {
    if (record.name != "record") continue;
    Result<std::optional<SanitizerFinding>> finding = finding_in(record, tool, source);
    if (!finding) return fail(finding.error());
    if (*finding) findings.push_back(std::move(**finding));
  }
  return findings;
}

}  // namespace assay::sandbox
