// Section reads one table of a spec.toml, typed and strict: every key of the table must be known,
// and every required key must be present with the right type. Diagnostics keeps the first error as
// one sentence that names file, line, table, key and the valid values. After an error the getters
// return empty values, so that a parser can go on without checks.
//
//   Diagnostics diagnostics{"operators/standard/relu/spec.toml"};
//   Section section(document, "[[cases]] 'small'", diagnostics);
//   section.keys({"id", "dtype"}, {"note"});
//   std::string dtype = section.choice("dtype", dtypes);
//   if (diagnostics.first) return fail(*diagnostics.first);
//
// Not thread-safe: both live on one thread's stack while a file is parsed. No other header includes
// toml++.
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

  /// Keeps only the first error. `line` is 0 if the error is about the whole file.
  void add(std::uint32_t line, const std::string& message);
  bool failed() const { return first.has_value(); }
};

class Section {
 public:
  /// `label` names the table in messages. It is empty for the top level.
  Section(const toml::table& table, std::string label, Diagnostics& diagnostics)
      : table_(table), label_(std::move(label)), diagnostics_(diagnostics) {}

  /// Reports each key that is in neither list, and each required key that is missing.
  void keys(std::initializer_list<std::string_view> required,
            std::initializer_list<std::string_view> optional);

  bool has(std::string_view key) const { return table_.contains(key); }
  std::string text(std::string_view key);
  /// Lower-case letters, digits and underscores, a letter first. So the value is valid as a file
  /// name and as a name in Python.
  std::string identifier(std::string_view key);
  std::string choice(std::string_view key, Names valid);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  double number(std::string_view key, double low, double high);
  bool boolean(std::string_view key);
  /// An array of strings or non-negative integers, each as text.
  std::vector<std::string> extents(std::string_view key);
  /// A string or a number, as text.
  std::string extent_or_number(std::string_view key);
  /// A table of integers.
  std::map<std::string, std::int64_t> integers(std::string_view key, std::int64_t low,
                                               std::int64_t high);
  /// The tables of [[key]]. Reports an error if there is none.
  std::vector<const toml::table*> tables(std::string_view key);

  void report_error(std::string_view key, const std::string& message);

 private:
  const toml::node* node(std::string_view key);

  const toml::table& table_;
  std::string label_;
  Diagnostics& diagnostics_;
};

}  // namespace assay::operators
