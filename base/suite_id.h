// SuiteId says which suite of operators something belongs to: a run, a verdict, a report. The name
// and the version are for people. The digest decides: results that were judged by suites with
// different digests are not comparable.
//
//   SuiteId suite{"assay", "1", "9f86d081884c7d65..."};
//   text_of(suite);  // "assay 1 (digest 9f86d081884c)"
//
// A value type. Threads may copy it.
#pragma once

#include <string>
#include <vector>

namespace assay {

struct SuiteId {
  std::string name, version;  // the version may be empty
  std::string digest;         // of all operators, in hexadecimal; empty: not known

  bool operator==(const SuiteId&) const = default;
};

/// Returns the name, the version and the first characters of the digest, if it is known. Returns
/// "unknown" if the suite has no name. The text is escaped and one line, because the suite of an
/// imported run may have any name.
std::string text_of(const SuiteId& suite);

/// Returns the part of the suite that agents may know. The digest covers the hidden cases, so with
/// it an agent could check a guess of them.
SuiteId without_digest(SuiteId suite);

/// Returns true if the suites have different digests, so that their results must not be mixed. An
/// unknown suite differs from every known one.
bool have_several_digests(const std::vector<SuiteId>& suites);

}  // namespace assay
