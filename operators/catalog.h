// Catalog contains all operators. It reads each folder under operators/{standard,ood,dsl} and
// checks the folder's files.
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

#include "base/baseline.h"
#include "base/result.h"
#include "base/suite_id.h"

namespace assay::operators {

enum class Split { standard, ood, dsl };
inline constexpr std::array kSplits{Split::standard, Split::ood, Split::dsl};
std::string_view to_string(Split split);

enum class ArgumentType { tensor, integer, floating, boolean };
enum class Role { input, inout, structural };

struct Argument {
  std::uint32_t line = 0;  // the line of spec.toml where the argument's table begins
  std::string name;
  ArgumentType type = ArgumentType::tensor;
  std::string dtype;  // "case" (the case's dtype) or a dtype; empty for scalars
  // Each extent is an axis name, an integer or a product of both. The list is empty for a scalar.
  std::vector<std::string> shape;
  Role role = Role::input;
  std::string description;
};

struct Output {
  std::uint32_t line = 0;
  std::string name;
  std::string dtype;
  std::vector<std::string> shape;
  double max_abs_error = 0.01;  // the tolerance after scaling; 0: the output must be exact
  std::string scale = "1";      // a number, an axis or a product; errors are multiplied by it
  // Only imported operators have outputs with one of the next two rules.
  // True if an element may also be off by max_abs_error times its own magnitude.
  bool or_relative = false;
  // True if the tolerance is a share of an element's magnitude, or of the output's root mean square
  // if that is larger.
  bool relative = false;
  // The name of the inout argument that becomes this output. Empty if the entry function returns
  // the output.
  std::string from;
};

/// Maps the name of each axis to its extent, for example {"rows", 7}.
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

/// A distribution of inputs. On such inputs, kernels that take certain shortcuts give a wrong
/// answer.
struct Adversary {
  std::uint32_t line = 0;
  std::string distribution;
  std::vector<std::string> breaks;  // the names of the shortcuts
  std::string axis;                 // the axis along which a shortcut leaves work out; may be empty
};

/// A loss of precision that no case of the operator can show.
struct Indistinguishable {
  std::uint32_t line = 0;
  std::string loss;      // "rounded_input" or "float16_sums"
  std::string argument;  // the rounded input; empty for all inputs together, and for sums
};

/// Where an imported operator comes from. A field is empty if the importer did not find it out.
struct Provenance {
  std::string benchmark;    // "TritonBench-G"
  std::string file;         // the file of the benchmark
  std::string file_sha256;  // of that file
  std::string revision;     // the commit of the benchmark's checkout
  std::string licence;      // the first line of the checkout's licence
  std::string tolerance;    // how the benchmark itself compares outputs; Assay's own rule decides
};

struct Operator {
  std::string name;
  Split split = Split::standard;
  std::string family, dialect;
  int difficulty = 1;
  std::string summary, description, entry, signature;
  // True if the operator was imported from another benchmark. The cases of such an operator must
  // not be changed.
  bool imported = false;
  Provenance provenance;  // of an imported operator
  /// With what Perf compares a submission. Only an operator whose baseline is the oracle has an
  /// oracle.py.
  Baseline baseline = Baseline::oracle;
  /// Python code that a candidate executes behind every submission. It defines the entry function.
  /// Empty if the operator has no adapter.
  std::string adapter;
  /// How the adapter calls the submission, as Python text: `swish(a0, beta=a1)`. Agents see it. It
  /// is empty if there is no adapter, or if the adapter calls more than one function.
  std::string call;
  std::vector<Argument> arguments;
  std::vector<Output> outputs;
  std::vector<Case> cases;
  std::vector<Adversary> adversaries;
  std::vector<Indistinguishable> indistinguishable;
  std::filesystem::path directory;  // absolute path
  // The text of reference.py. The tool fetch_spec shows it to agents.
  std::string reference_source;
  // The text of oracle.py, which agents never see. Empty if the operator has no oracle.
  std::string oracle_source;
  // The SHA-256 of spec.toml, reference.py and oracle.py. An oracle that is missing counts as
  // empty.
  std::string revision;
  SuiteId suite;  // of the catalog that loaded the operator; load_operator() sets none

  /// Returns true if the reference runs the benchmark's own kernel. It is a solution, so agents
  /// must not see it. The reference of an operator without an oracle is a function of PyTorch.
  bool has_golden_reference() const { return imported && baseline == Baseline::oracle; }
};

class Catalog {
 public:
  /// Loads all operators. If an operator is broken, returns the first error. Its message names the
  /// file, the key and the valid values.
  static Result<Catalog> load(const std::filesystem::path& root);

  const std::vector<Operator>& all() const { return operators_; }  // sorted by split, then by name
  const Operator* find(std::string_view name) const;
  /// Returns the suite that the operators make up. Its digest is the SHA-256 of the names and
  /// revisions of all operators, so two servers with the same digest have the same operators. The
  /// name and the version are those in suite.toml. Without this file, the name is the name of the
  /// folder, and there is no version.
  const SuiteId& suite() const { return suite_; }
  /// Returns an error like "unknown operator 'vectoradd'; did you mean 'vector_add'?
  /// `list_operators` names all 164".
  Error unknown(std::string_view name) const;

 private:
  std::vector<Operator> operators_;
  SuiteId suite_;
};

/// Loads the folder of one operator. `operators lint` and tests use it.
Result<Operator> load_operator(const std::filesystem::path& directory);

/// Reads the name and the version of a suite from the text of its suite.toml. The digest of the
/// result is empty. An error message begins with `file`.
Result<SuiteId> parse_suite(std::string_view text, const std::string& file);

/// Computes an extent such as "rows", "128" or "2*rows*cols" from the values in `axes`. Errors:
/// invalid_argument if a factor is neither an integer nor an axis, or if the product exceeds 64
/// bits.
Result<std::int64_t> evaluate_extent(std::string_view expression, const Axes& axes);

}  // namespace assay::operators
