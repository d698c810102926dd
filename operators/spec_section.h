// Section reads one table of a spec.toml with strict types: every key of the table must be known,
// and every required key must be present with the correct type. Diagnostics keeps the first error
// as one sentence that names the file, line, table, key and valid values. After an error the
// getters still return a value, so a parser can continue and check for an error at its end.
//
//   Diagnostics diagnostics{"operators/standard/relu/spec.toml"};
//   Section section(document, "[[cases]] 'small'", diagnostics);
//   section.keys({"id", "dtype"}, {"note"});
//   std::string dtype = section.choice("dtype", dtypes);
//   if (diagnostics.first) return fail(*diagnostics.first);
//
// The classes are not thread-safe: their objects live on the stack of the thread that parses a
// file. No other header includes toml++.
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

struct Diagnostics {
  std::string file;
  std::optional<Error> first;

  /// Stores the error unless an earlier error is stored. `line` is 0 if the error is about the
  /// whole file.
  void add(std::uint32_t line, const std::string& message);
  bool failed() const { return first.has_value(); }
};

class Section {
 public:
  /// `label` is the table's name in messages. It is empty for the top level of the file.
  Section(const toml::table& table, std::string label, Diagnostics& diagnostics)
      : table_(table), label_(std::move(label)), diagnostics_(diagnostics) {}

  /// Reports each key that is in neither list, and each missing required key.
  void keys(std::initializer_list<std::string_view> required,
            std::initializer_list<std::string_view> optional);

  bool has(std::string_view key) const { return table_.contains(key); }
  std::string text(std::string_view key);
  /// Returns a string of lower-case letters, digits and underscores that begins with a letter. Such
  /// a string is valid as a file name and as a name in Python.
  std::string identifier(std::string_view key);
  std::string choice(std::string_view key, Names valid);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  double number(std::string_view key, double low, double high);
  bool boolean(std::string_view key);
  /// Reads an array of strings or non-negative integers. Returns each element as text.
  std::vector<std::string> extents(std::string_view key);
  /// Reads a string or a positive number. Returns it as text.
  std::string extent_or_number(std::string_view key);
  /// Reads a table whose keys are identifiers and whose values are integers from `low` to `high`.
  std::map<std::string, std::int64_t> integers(std::string_view key, std::int64_t low,
                                               std::int64_t high);
  /// Returns the tables of the array [[key]]. Reports an error if the array is missing or empty.
  std::vector<const toml::table*> tables(std::string_view key);

  void report_error(std::string_view key, const std::string& message);

 private:
  const toml::node* node(std::string_view key);

  const toml::table& table_;
  std::string label_;
  Diagnostics& diagnostics_;
};

}  // namespace assay::operators
