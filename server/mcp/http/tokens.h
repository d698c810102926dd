// Bearer tokens of the HTTP server, kept as hashes. One line of the token file is one token; blank
// lines and lines that begin with # are skipped:
//
//   NAME SCOPE[,SCOPE...] sha256:HEX
//   alice practice,score sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//
//   const Result<Tokens> tokens = Tokens::parse(text, {"practice", "score"});
//   const std::shared_ptr<const Caller> caller = tokens->find(secret);       // null: nobody
//
// A secret has 128 random bits (new_token), so its plain SHA-256 cannot be reversed by guessing: no
// salt, no slow hash, and 20,000 requests a second are affordable. Immutable after parse(),
// thread-safe.
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
  /// The error names the line and what is wrong with it. A file without any token is an error:
  /// nobody could use the server.
  static Result<Tokens> parse(std::string_view text, const std::vector<std::string>& known_scopes);

  /// The same time for every secret of a length, known or not.
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
  std::string secret;  // shown once
  std::string line;    // for the token file
};
/// `invalid_argument` for a name that is not 1 to 64 letters, digits, dots, hyphens and
/// underscores, or a scope that nobody knows.
Result<NewToken> new_token(const std::string& name, const std::vector<std::string>& scopes,
                           const std::vector<std::string>& known_scopes);

}  // namespace assay::mcp
