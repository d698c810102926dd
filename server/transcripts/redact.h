// A Redactor removes secrets from the texts of a transcript: the values of the environment
// variables that hold keys and tokens, and texts that look like a key of a known service, a token,
// a private key, or a password in a URL or in an assignment. It replaces each by "[secret]". A
// model or a tool can only repeat a secret that somebody put into a prompt, so this is a second
// line of defence.
//
//   const Redactor redactor = Redactor::of_environment();
//   step.text = redactor.redacted(step.text);
//
// Immutable and thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::transcripts {

inline constexpr const char* kRedacted = "[secret]";
/// A shorter value of a variable is not removed: it would be a common word.
inline constexpr std::size_t kLeastSecretBytes = 8;

class Redactor {
 public:
  /// `secrets` are texts to remove wherever they stand.
  explicit Redactor(std::vector<std::string> secrets);
  /// Removes the values of all environment variables whose names end in KEY, TOKEN, SECRET or
  /// PASSWORD.
  static Redactor of_environment();
  std::string redacted(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  // longest first
};

}  // namespace assay::transcripts
