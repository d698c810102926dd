#include "reference_agents/core/edits.h"

#include <algorithm>
#include <cstddef>

namespace assay::agents {
namespace {

constexpr std::string_view kSearch = "<<<<<<< SEARCH";
constexpr std::string_view kMiddle = "=======";
constexpr std::string_view kReplace = ">>>>>>> REPLACE";

enum class Part { outside, search, replace };

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos;
}

/// White space after a marker is no content.
std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

tl::unexpected<Error> refuse(std::size_t number, const std::string& why) {
  return fail(ErrorCode::invalid_argument, "edit " + std::to_string(number) + " " + why);
}

/// Where `wanted` stands in `lines`, from 0.
std::vector<std::size_t> places_of(const std::vector<std::string>& wanted,
                                   const std::vector<std::string>& lines) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at + wanted.size() <= lines.size(); ++at) {
    if (std::equal(wanted.begin(), wanted.end(), lines.begin() + static_cast<std::ptrdiff_t>(at)))
      places.push_back(at);
  }
  return places;
}

}  // namespace

Result<std::vector<Edit>> parse_edits(std::string_view reply) {
  std::vector<Edit> edits;
  Part part = Part::outside;
  for (const std::string& line : lines_of(reply)) {
    const std::string_view mark = trimmed(line);
    const bool known = mark == kSearch || mark == kReplace ||
                       (mark == kMiddle && part != Part::outside);  // prose may underline
    if (!known) {
      if (part == Part::search) edits.back().search.push_back(line);
      if (part == Part::replace) edits.back().replace.push_back(line);
    } else if (mark == kSearch && part == Part::outside) {
      edits.emplace_back();
      part = Part::search;
    } else if (mark == kMiddle && part == Part::search) {
      part = Part::replace;
    } else if (mark == kReplace && part == Part::replace) {
      part = Part::outside;
    } else {
      return refuse(std::max<std::size_t>(edits.size(), 1),
                    "is malformed: '" + std::string(mark) +
                        "' stands in the wrong place; the order is '" + std::string(kSearch) +
                        "', '" + std::string(kMiddle) + "', '" + std::string(kReplace) + "'");
    }
  }
  if (part != Part::outside)
    return refuse(edits.size(), "does not end with '" + std::string(kReplace) + "'");
  if (edits.empty()) return fail(ErrorCode::invalid_argument, "the reply holds no edit");
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (std::all_of(edits[i].search.begin(), edits[i].search.end(), is_blank))
      return refuse(i + 1, "searches for nothing: quote the lines to change");
  }
  return edits;
}

Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits) {
  std::vector<std::string> lines = lines_of(source);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    const std::vector<std::size_t> places = places_of(edit.search, lines);
    if (places.empty()) {
      return refuse(i + 1,
                    "matches nothing: no lines of the code are exactly the ones searched for, "
                    "which begin with '" +
                        edit.search.front() + "'");
    }
    if (places.size() > 1) {
      return refuse(i + 1, "matches " + std::to_string(places.size()) + " places (lines " +
                               std::to_string(places[0] + 1) + " and " +
                               std::to_string(places[1] + 1) +
                               "): quote more lines around the one that is meant");
    }
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(places[0]);
    const auto after = lines.erase(first, first + static_cast<std::ptrdiff_t>(edit.search.size()));
    lines.insert(after, edit.replace.begin(), edit.replace.end());
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace assay::agents
