// Defines how a wrong output is described: which elements are wrong, how many of them no kernel has
// stored, and how the actual values differ from the expected ones. The judge computes the
// description (sandbox/harness/judging/wrong.py), and wrong_text() makes one sentence of it.
//
//   const WrongOutput wrong{.output = "y", .shape = {7, 333}, .elements = 2331,
//                           .all = {.count = 7, .share = 1, .spans = {{1, 332, 332, 1, 0}}}};
//   const std::string text = wrong_text({wrong});
//   // "output y: 7 of 2331 elements differ: column 332 of every row"
//
// Thread-safe: the functions have no state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::sandbox {

struct Mismatch {
  std::string output;  // name of the output
  std::vector<std::int64_t> index;
  double expected = 0;
  double actual = 0;
  /// True: nothing was stored to the element, and `actual` is what its memory contained before.
  bool unstored = false;
};

/// Indexes of one axis: `run` indexes from `first` on. If `period` is not 0, this repeats after
/// each `period` indexes, up to `last`.
struct AxisSpan {
  std::int64_t axis = 0;  // kFlat: the elements in index order, instead of one axis
  std::int64_t first = 0, last = 0, run = 0, period = 0;
};
inline constexpr std::int64_t kFlat = -1;

/// Elements of an output.
struct Region {
  std::int64_t count = 0;
  double share = 0;                  // the share of these elements in the spans, 0..1
  std::vector<AxisSpan> spans = {};  // empty if the elements have no simple pattern
};

struct WrongElement {
  std::vector<std::int64_t> index;
  double expected = 0, actual = 0;
  std::map<std::string, double> inputs = {};  // the values of inputs at the same index
};

struct WrongOutput {
  std::string output;
  std::vector<std::int64_t> shape = {};
  std::int64_t elements = 0;
  double allowed = 0, scale = 1;  // the tolerance; errors are multiplied by `scale`
  /// True: an element may be off by `allowed` times its own size, or times 1 / `scale` if that is
  /// larger.
  bool relative = false;
  Region all = {};
  Region unstored = {};  // the elements that still have the value that memory had before
  Region nan = {};       // the elements that were computed as NaN
  /// The value of memory to which no kernel has stored. It has no value if the output's memory had
  /// the values of an input, or other values that are not known.
  std::optional<double> memory = {};
  /// Relations that hold for all wrong elements with finite values: all have the same actual value,
  /// actual = `ratio` * expected, or actual = expected + `offset`.
  std::optional<double> constant = {}, ratio = {}, offset = {};
  /// The smallest and the largest factor, if each row (the last axis) has a factor of its own.
  /// Otherwise empty.
  std::vector<double> row_ratios = {};
  std::vector<WrongElement> worst = {};  // at most three, the largest error first
};

/// Returns the region in words: "rows 64 to 127", "every element from 4096 on", "" if it has no
/// pattern.
std::string region_text(const Region& region, const std::vector<std::int64_t>& shape);

/// Returns one sentence about the outputs, or "" if there are none.
std::string wrong_text(const std::vector<WrongOutput>& outputs);

/// Returns how many elements of which output are wrong, and nothing else.
std::string wrong_count_text(const WrongOutput& wrong);

}  // namespace assay::sandbox
