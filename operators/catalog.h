// Catalog holds all operators: every folder under operators/{standard,ood,dsl}, parsed and checked.
//
//   Result<Catalog> catalog = Catalog::load("operators");
//   const Operator* op = catalog->find("vector_add");
//
// docs/reference/operator-format.md describes the format. To add an operator, add a folder. A
// catalog is immutable after load(), so threads can share it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::operators {

enum class Split { standard, ood, dsl };
inline constexpr std::array kSplits{Split::standard, Split::ood, Split::dsl};
std::string_view to_string(Split split);

enum class ArgumentType { tensor, integer, floating, boolean };
enum class Role { input, inout, structural };

struct Argument {
  std::uint32_t line = 0;  // line of spec.toml where the table begins
  std::string name;
  ArgumentType type = ArgumentType::tensor;
  std::string dtype;               // "case" or a dtype; empty for scalars
  std::vector<std::string> shape;  // axis names, integers or products; empty for scalars
  Role role = Role::input;
  std::string description;
};

struct Output {
  std::uint32_t line = 0;
  std::string name;
  std::string dtype;
  std::vector<std::string> shape;
  double max_abs_error = 0.01;  // 0: exact
  std::string scale = "1";      // number, axis or product; errors are multiplied by this
  std::string from;             // an inout argument; empty: the entry function returns the output
};

/// The extent of each axis by its name, for example {"rows", 7}.
using Axes = std::map<std::string, std::int64_t>;

struct Case {
  std::uint32_t line = 0;
  std::string id;
  bool hidden = false;
  bool interpreter = false;
  std::string dtype;
  Axes axes;
  std::string distribution;
};

struct Operator {
  std::string name;
  Split split = Split::standard;
  std::string family, dialect;
  int difficulty = 1;
  std::string summary, description, entry, signature;
  bool imported = false;  // from another benchmark, so its cases cannot be changed
  /// Python code that follows every submission, and that may define the entry. Empty: none.
  std::string adapter;
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
  std::vector<Case> cases;
  std::filesystem::path directory;  // absolute
  std::string reference_source;     // reference.py, as fetch_spec shows it
  std::string oracle_source;        // never shown to an agent
  std::string revision;             // SHA-256 of spec.toml, reference.py and oracle.py
};

class Catalog {
 public:
  /// Fails on the first broken operator. The error names file, key and valid values.
  static Result<Catalog> load(const std::filesystem::path& root);

  const std::vector<Operator>& all() const { return operators_; }  // sorted by split, then by name
  const Operator* find(std::string_view name) const;
  /// "unknown operator 'vectoradd'; did you mean 'vector_add'? `list_operators` names all 164"
  Error unknown(std::string_view name) const;

 private:
  std::vector<Operator> operators_;
};

/// Loads one operator's folder, for `operators lint` and tests.
Result<Operator> load_operator(const std::filesystem::path& directory);

/// Returns the value of an extent such as "rows", "128" or "2*rows*cols" for these axes.
Result<std::int64_t> evaluate_extent(std::string_view expression, const Axes& axes);

}  // namespace assay::operators
