// Section: typed, strict access to one table of a spec.toml. Every key of the table must be known
// and every required key must be there with the right type; the first thing wrong is kept in a
// Diagnostics as one sentence that names file, line, table, key and the valid values. After that
// the getters return empty values, so a parser can read on without checking.
//
//   Diagnostics diagnostics{"operators/standard/relu/spec.toml"};
//   Section section(table, "[[cases]] 'small'", diagnostics);
//   section.keys({"id", "dtype"}, {"note"});
//   std::string dtype = section.choice("dtype", kDtypes);
//   if (diagnostics.first) return fail(*diagnostics.first);
//
// Not thread-safe; lives on one thread's stack while one file is parsed. The only header that shows
// toml++ to its includer.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::operators {

using Names = std::span<const std::string_view>;

/// "a, b, c"
std::string join(Names names);
std::string join(const std::vector<std::string>& names);

struct Diagnostics {
  std::string file;
  std::optional<Error> first;

  /// Keeps the first complaint only. `line` 0: about the file as a whole.
  void add(std::uint32_t line, const std::string& message);
  bool failed() const { return first.has_value(); }
};

class Section {
 public:
  /// `label` names the table in messages; empty for the top level.
  Section(const toml::table& table, std::string label, Diagnostics& diagnostics)
      : table_(table), label_(std::move(label)), diagnostics_(diagnostics) {}

  /// Complains about a key that is in neither list, and about a required one that is missing.
  void keys(std::initializer_list<std::string_view> required,
            std::initializer_list<std::string_view> optional);

  bool has(std::string_view key) const { return table_.contains(key); }
  std::string text(std::string_view key);
  /// Lower-case letters, digits and underscores, starting with a letter: usable as a file name and
  /// a Python name.
  std::string identifier(std::string_view key);
  std::string choice(std::string_view key, Names valid);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  double number(std::string_view key, double low, double high);
  bool boolean(std::string_view key);
  /// An array whose items are strings or non-negative integers, each as text.
  std::vector<std::string> extents(std::string_view key);
  /// A string or a number, as text.
  std::string extent_or_number(std::string_view key);
  /// A table of integers.
  std::map<std::string, std::int64_t> integers(std::string_view key, std::int64_t low,
                                               std::int64_t high);
  /// The tables of [[key]]; complains when there is none.
  std::vector<const toml::table*> tables(std::string_view key);

  void print_error(std::string_view key, const std::string& message);

 private:
  const toml::node* node(std::string_view key);

  const toml::table& table_;
  std::string label_;
  Diagnostics& diagnostics_;
};

}  // namespace assay::operators
