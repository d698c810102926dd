#include "sandbox/job/wrong_output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace assay::sandbox {
namespace {

constexpr double kWhole = 0.995;  // a region with this share of wrong elements has no holes
constexpr int kPercent = 100;
constexpr std::size_t kTextBytes = 300;  // beyond this length, no further element is added

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Returns the name of an index of an axis: "row", "column", "element", "index".
std::string noun_of(const AxisSpan& span, std::size_t rank) {
  if (span.axis == kFlat) return "flat index";
  if (rank == 1) return "element";
  if (rank == 2) return span.axis == 0 ? "row" : "column";
  return "axis " + std::to_string(span.axis) + " index";
}

std::string plural(const std::string& noun) {
  return noun + (noun.ends_with("index") ? "es" : "s");
}

std::int64_t size_of(const AxisSpan& span, const std::vector<std::int64_t>& shape) {
  if (span.axis != kFlat) return shape[static_cast<std::size_t>(span.axis)];
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

std::string span_text(const AxisSpan& span, const std::vector<std::int64_t>& shape) {
  const std::string noun = noun_of(span, shape.size());
  const std::string first = std::to_string(span.first);
  const std::string end = std::to_string(span.first + span.run - 1);
  std::string text = span.run == 1 ? noun + " " + first : plural(noun) + " " + first + " to " + end;
  if (span.period != 0) return text + " of every " + std::to_string(span.period);
  const bool to_the_end = span.last == size_of(span, shape) - 1;
  if (span.run > 1 && to_the_end) text = "every " + noun + " from " + first + " on";
  if (span.run > 1 && to_the_end && noun != "element")
    text = plural(noun) + " from " + first + " on";
  return text;
}

std::string place_text(const std::vector<std::int64_t>& index) {
  std::string text = "[";
  for (std::size_t i = 0; i < index.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(index[i]);
  return text + "]";
}

std::string element_text(const WrongElement& element) {
  std::string text = place_text(element.index) + " " + short_number(element.expected) + " -> " +
                     short_number(element.actual);
  std::string inputs;
  for (const auto& [name, value] : element.inputs)
    inputs += (inputs.empty() ? "" : ", ") + name + " " + short_number(value);
  return inputs.empty() ? text : text + " (" + inputs + ")";
}

/// Returns the elements of a part of the wrong elements: "7 <what>: column 332 of every row". The
/// place is left out if the part is all wrong elements, because their place precedes this text.
std::string part_text(const Region& part, const WrongOutput& wrong, const std::string& what) {
  const bool all = part.count == wrong.all.count;
  const std::string place = all ? "" : region_text(part, wrong.shape);
  const std::string count =
      all ? (part.count == 1 ? "it" : "all of them") : std::to_string(part.count);
  const bool one = part.count == 1;
  return "; " + count + (one ? " has " : " have ") + what + (place.empty() ? "" : ": " + place);
}

std::string unstored_text(const WrongOutput& wrong) {
  if (wrong.unstored.count == 0) return "";
  const std::string value = !wrong.memory ? "the input's value"
                            : std::isnan(*wrong.memory)
                                ? "the NaN"
                                : "the value " + short_number(*wrong.memory);
  return part_text(wrong.unstored, wrong, value + " that memory had before (not stored)");
}

std::string relation_text(const WrongOutput& wrong) {
  if (wrong.unstored.count == wrong.all.count) return "";
  if (wrong.constant) return "; each is " + short_number(*wrong.constant);
  if (wrong.ratio) return "; each is " + short_number(*wrong.ratio) + " * expected";
  if (wrong.row_ratios.size() == 2)
    return "; each row has a factor of its own, " + short_number(wrong.row_ratios[0]) + " to " +
           short_number(wrong.row_ratios[1]);
  if (!wrong.offset) return "";
  return std::string("; each is expected ") + (*wrong.offset < 0 ? "- " : "+ ") +
         short_number(std::abs(*wrong.offset));
}

/// Returns the worst elements that fit into `room` bytes, and at least one.
std::string worst_text(const WrongOutput& wrong, std::size_t room) {
  // If all wrong elements are alike, one is enough, or none.
  if (wrong.unstored.count == wrong.all.count) return "";
  const bool alike = wrong.constant || wrong.ratio || wrong.offset;
  std::string text;
  for (const WrongElement& element : wrong.worst) {
    const std::string more = (text.empty() ? "; expected -> got: " : ", ") + element_text(element);
    if (!text.empty() && (alike || text.size() + more.size() > room)) break;
    text += more;
  }
  return text;
}

}  // namespace

std::string region_text(const Region& region, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const AxisSpan& span : region.spans)
    text += (text.empty() ? "" : ", ") + span_text(span, shape);
  if (text.empty()) return "";
  if (shape.size() == 2 && region.spans.size() == 1 && region.spans.front().run == 1 &&
      region.spans.front().axis != kFlat && region.spans.front().period == 0)
    text += region.spans.front().axis == 0 ? ", every column" : " of every row";
  if (region.share < kWhole)
    text += " (" + std::to_string(std::lround(region.share * kPercent)) + " % of them)";
  return text;
}

std::string wrong_count_text(const WrongOutput& wrong) {
  std::string text = "output " + wrong.output + ": " + std::to_string(wrong.all.count) + " of " +
                     std::to_string(wrong.elements) + " elements ";
  if (wrong.allowed == 0) return text + "differ";
  text += "are off by more than " + short_number(wrong.allowed);
  if (wrong.relative)
    return text + " of their size, or of the typical size " + short_number(1 / wrong.scale);
  return wrong.scale == 1 ? text : text + " (error times " + short_number(wrong.scale) + ")";
}

std::string wrong_text(const std::vector<WrongOutput>& outputs) {
  std::string text;
  for (const WrongOutput& wrong : outputs) {
    const bool first = text.empty();
    const std::string place = region_text(wrong.all, wrong.shape);
    text += (first ? "" : "; ") + wrong_count_text(wrong) + (place.empty() ? "" : ": " + place);
    if (!first) continue;  // one output is described in full, because readers pay for each word
    text += unstored_text(wrong);
    if (wrong.nan.count > 0) text += part_text(wrong.nan, wrong, "a NaN that was computed");
    text += relation_text(wrong);
    text += worst_text(wrong, kTextBytes - std::min(text.size(), kTextBytes));
  }
  return text;
}

}  // namespace assay::sandbox
