// Computes the revision of an operator: a hash of the files that define the operator. Data that was
// derived from an operator is valid as long as this hash is the same.
//
//   verdict.provenance.operator_revision = operator_revision(job.operator_dir);
//
// A pure function, except that it reads the files. Thread-safe.
#pragma once

#include <string>

namespace assay::sandbox {

/// Returns a SHA-256 of the operator's files spec.toml, reference.py and oracle.py (empty if there
/// is none). The catalog computes the same hash. Returns an empty string if a file cannot be read.
std::string operator_revision(const std::string& operator_dir);

}  // namespace assay::sandbox
