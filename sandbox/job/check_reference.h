// Defines CheckReference: the reference of a check, in which a caller compares a kernel with a
// function of its own. It takes the place of an operator in a Job (sandbox/job/job.h).
//
//   CheckReference reference;
//   reference.source = "def double(x): return 2 * x";
//   reference.entry = "double";
//   CheckArgument x;
//   x.name = "x";
//   x.type = "tensor";
//   x.dtype = "float32";
//   x.shape = {"n"};
//   x.distribution = "normal";
//   reference.arguments = {x};
//
// Plain structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::sandbox {

/// One argument of a check. Sizes, `low`, `high` and the `value` of a scalar are numbers, or
/// products of numbers and axes ("2*n").
struct CheckArgument {
  std::string name;
  std::string type;                // tensor | int | float | bool
  std::string dtype;               // of a tensor: "float32", ...
  std::vector<std::string> shape;  // of a tensor
  std::string distribution;        // of a tensor: a name of kDistributions
  std::string low, high;           // the parameters of the distribution; may be empty
  std::string value;               // of a scalar

  bool operator==(const CheckArgument&) const = default;
};

/// The reference of a check: a caller's own function, which takes the place of an operator. Only
/// its author trusts it, so a jailed process executes it (sandbox/pool/reference_process.h).
struct CheckReference {
  std::string source;  // Python, UTF-8, untrusted
  std::string entry;   // the name of the function
  std::vector<CheckArgument> arguments;
  std::optional<double> tolerance;  // empty: it depends on the dtypes of the outputs

  bool operator==(const CheckReference&) const = default;
};

/// The time for which a request waits for the reference's process beyond Limits::reference_wall_ms.
/// At reference_wall_ms the process stops its own code, so that the error names the line. The
/// process is killed if it does not answer in this further time.
inline constexpr std::int64_t kReferenceStartMs = 10'000;

/// The message for a check that is neither a test nor a profile. A device refuses such a job.
inline constexpr const char* kNoSuchCheck = "a check is a test or a profile, and never a grade";

}  // namespace assay::sandbox
