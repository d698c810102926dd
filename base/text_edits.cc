#include "base/text_edits.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::string_view kMiddle = "=======";
constexpr std::string_view kReplace = ">>>>>>> REPLACE";
constexpr std::size_t kShownLineBytes = 80;
// A message about an edit that matches nothing compares the edit with at most so many places.
constexpr std::size_t kMostComparedPlaces = 100;

enum class Part { outside, search, replace };

/// Removes spaces and tabs from the end of a line.
std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

/// Removes spaces and tabs from both ends of a line.
std::string_view bare(std::string_view line) {
  line = trimmed(line);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

std::string in_quotes(std::string_view line) { return "'" + cut_end(line, kShownLineBytes) + "'"; }

tl::unexpected<Error> refuse(std::size_t number, const std::string& why) {
  return fail(ErrorCode::invalid_argument, "edit " + std::to_string(number) + " " + why);
}

std::string form_of_an_edit() {
  return "an edit is a line '" + std::string(kEditMark) + "', the old lines, a line '" +
         std::string(kMiddle) + "', the new lines and a line '" + std::string(kReplace) + "'";
}

/// Returns every index in `lines` where `wanted` begins. Takes linear time (Knuth, Morris and
/// Pratt), because a caller chooses both texts.
std::vector<std::size_t> places_of(const std::vector<std::string>& wanted,
                                   const std::vector<std::string>& lines) {
  // border[i]: the length of the longest proper prefix of wanted[0..i] that also ends it.
  std::vector<std::size_t> border(wanted.size(), 0);
  for (std::size_t i = 1, matched = 0; i < wanted.size(); ++i) {
    while (matched > 0 && wanted[i] != wanted[matched]) matched = border[matched - 1];
    if (wanted[i] == wanted[matched]) ++matched;
    border[i] = matched;
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0, matched = 0; i < lines.size(); ++i) {
    while (matched > 0 && (matched == wanted.size() || lines[i] != wanted[matched]))
      matched = border[matched - 1];
    if (lines[i] == wanted[matched]) ++matched;
    if (matched == wanted.size()) places.push_back(i + 1 - matched);
  }
  return places;
}

/// Returns the number of lines at `at` that equal those of `wanted`, apart from spaces at their
/// ends, up to the first line that differs.
std::size_t alike(const std::vector<std::string>& wanted, const std::vector<std::string>& lines,
                  std::size_t at) {
  std::size_t count = 0;
  while (count < wanted.size() && at + count < lines.size() &&
         bare(wanted[count]) == bare(lines[at + count]))
    ++count;
  return count;
}

/// Says where the lines come closest to `wanted`, which occurs nowhere, and what differs there.
std::string closest_place(const std::vector<std::string>& wanted,
                          const std::vector<std::string>& lines) {
  std::size_t first = 0;  // the first line of `wanted` that is not blank
  while (bare(wanted[first]).empty()) ++first;
  const std::vector<std::string> text(wanted.begin() + static_cast<std::ptrdiff_t>(first),
                                      wanted.end());
  std::optional<std::size_t> best;
  std::size_t most = 0;
  for (std::size_t at = 0, compared = 0; at < lines.size() && compared < kMostComparedPlaces;
       ++at) {
    if (bare(lines[at]) != bare(text[0])) continue;
    ++compared;
    const std::size_t count = alike(text, lines, at);
    if (count <= most) continue;
    best = at;
    most = count;
  }
  if (!best) return "no line is " + in_quotes(wanted[first]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t at = *best + i;
    if (at >= lines.size())
      return "the text ends after line " + std::to_string(lines.size()) + ", before " +
             in_quotes(text[i]);
    if (lines[at] == text[i]) continue;
    return "line " + std::to_string(at + 1) + " is " + in_quotes(lines[at]) + ", not " +
           in_quotes(text[i]) + (i < most ? " (the spaces differ)" : "");
  }
  // All lines from the first one with text are equal, so the blank lines before them differ.
  return "the blank lines before line " + std::to_string(*best + 1) + " differ";
}

std::string joined(const std::vector<std::string>& lines, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += lines[i] + "\n";
  return text;
}

}  // namespace

std::vector<std::string> text_lines(std::string_view text) {
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

Result<std::vector<Edit>> parse_edits(std::string_view text) {
  std::vector<Edit> edits;
  Part part = Part::outside;
  for (const std::string& line : text_lines(text)) {
    const std::string_view mark = trimmed(line);
    const bool known = mark == kEditMark || mark == kReplace ||
                       // Outside of an edit, a line of "=" is no mark: it underlines a heading.
                       (mark == kMiddle && part != Part::outside);
    if (!known) {
      if (part == Part::search) edits.back().search.push_back(line);
      if (part == Part::replace) edits.back().replace.push_back(line);
    } else if (mark == kEditMark && part == Part::outside) {
      edits.emplace_back();
      part = Part::search;
    } else if (mark == kMiddle && part == Part::search) {
      part = Part::replace;
    } else if (mark == kReplace && part == Part::replace) {
      part = Part::outside;
    } else {
      return refuse(std::max<std::size_t>(edits.size(), 1), "is malformed: '" + std::string(mark) +
                                                                "' stands in the wrong place; " +
                                                                form_of_an_edit());
    }
  }
  if (part != Part::outside)
    return refuse(edits.size(), "does not end with '" + std::string(kReplace) + "'");
  if (edits.empty())
    return fail(ErrorCode::invalid_argument, "there is no edit; " + form_of_an_edit());
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const std::vector<std::string>& search = edits[i].search;
    if (std::all_of(search.begin(), search.end(),
                    [](const std::string& line) { return bare(line).empty(); }))
      return refuse(i + 1, "searches for nothing: quote the lines to change");
  }
  return edits;
}

Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits) {
  std::vector<std::string> lines = text_lines(source);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    const std::vector<std::size_t> places = places_of(edit.search, lines);
    if (places.empty())
      return refuse(i + 1, "matches nothing: " + closest_place(edit.search, lines) +
                               "; quote whole lines with their indentation");
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
  return joined(lines, 0, lines.size());
}

std::string text_of(const std::vector<Edit>& edits) {
  std::string text;
  for (const Edit& edit : edits) {
    text += std::string(kEditMark) + "\n" + joined(edit.search, 0, edit.search.size()) +
            std::string(kMiddle) + "\n" + joined(edit.replace, 0, edit.replace.size()) +
            std::string(kReplace) + "\n";
  }
  return text;
}

std::string edit_text(const std::string& before, const std::string& after) {
  const std::vector<std::string> old_lines = text_lines(before);
  const std::vector<std::string> new_lines = text_lines(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  const auto unique = [&] {
    const std::string text = joined(old_lines, head, old_lines.size() - tail);
    const std::size_t at = before.find(text);
    return !text.empty() && at != std::string::npos &&
           before.find(text, at + 1) == std::string::npos;
  };
  while (!unique() && (head > 0 || tail > 0)) {
    if (head > 0) --head;
    if (tail > 0) --tail;
  }
  const auto part = [&](const std::vector<std::string>& lines) {
    return std::vector<std::string>(lines.begin() + static_cast<std::ptrdiff_t>(head),
                                    lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  return text_of({{part(old_lines), part(new_lines)}});
}

}  // namespace assay
