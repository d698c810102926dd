// Tokens are the bearer tokens of the HTTP server, kept as hashes. Each line of the token file is
// one token: its name, its scopes separated by commas, and "sha256:" with the hash in hexadecimal
// digits. Blank lines and lines that begin with # are skipped.
//
//   const std::string hash(64, 'a');
//   const std::string file = "alice practice,score sha256:" + hash;
//   const Result<Tokens> tokens = Tokens::parse(file, {"practice", "score"});
//   const std::shared_ptr<const Caller> caller = tokens->find(secret);  // null: unknown
//
// A secret has 128 random bits, so guessing cannot reverse its plain SHA-256: neither a salt nor a
// slow hash is needed, and a lookup is fast. Immutable after parse(), thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/request_context.h"

namespace assay::mcp {

class Tokens {
 public:
  /// The error names the line and its problem. A file without a token is an error, because no
  /// client could use the server.
  static Result<Tokens> parse(std::string_view text, const std::vector<std::string>& known_scopes);

  /// Takes the same time for all secrets of a length, known or unknown.
  std::shared_ptr<const Caller> find(std::string_view secret) const;
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kDigestBytes = 32;
  struct Entry {
    std::array<unsigned char, kDigestBytes> digest{};
    std::shared_ptr<const Caller> caller;
  };
  std::vector<Entry> entries_;
};

struct NewToken {
  std::string secret;  // to be shown once
  std::string line;    // the line of the token file
};
/// Makes a new token. A name that is not 1 to 64 letters, digits, dots, hyphens and underscores, or
/// an unknown scope, is refused with `invalid_argument`.
Result<NewToken> new_token(const std::string& name, const std::vector<std::string>& scopes,
                           const std::vector<std::string>& known_scopes);

}  // namespace assay::mcp
