// Tokens stores the hashes of the HTTP server's bearer tokens. Each line of the token file defines
// one token: its name, its scopes separated by commas, "sha256:" with the hash in hexadecimal
// digits, and optionally "expires=" with the end of its validity. Blank lines and lines that begin
// with # are skipped.
//
//   const std::string hash(64, 'a');
//   const std::string file = "alice practice,score sha256:" + hash;
//   Result<Tokens> tokens = Tokens::parse(file, {"practice", "score"});
//   const std::shared_ptr<const Caller> caller = tokens->find(secret);  // null: unknown
//   if (Result<Tokens> newer = Tokens::parse(file, {"practice", "score"}))
//     tokens->replace(std::move(*newer));  // later calls of find() use the new tokens
//
// Tokens stores a plain SHA-256 hash of each secret, without a salt. This is safe, because a secret
// has 128 random bits and cannot be guessed from its hash. A lookup is therefore fast. Thread-safe,
// except that an object must not be moved while another thread uses it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "server/mcp/core/request_context.h"

namespace assay::mcp {

class Tokens {
 public:
  /// Parses a token file. The error names the line and its problem. A file without tokens is an
  /// error too, because no client could use the server.
  static Result<Tokens> parse(std::string_view text, const std::vector<std::string>& known_scopes);

  /// Returns the client with this secret, or null. Also returns a client whose token has expired
  /// (Caller::expires_unix_ms). A lookup takes the same time for all secrets of
  /// the same length, known or unknown. So the duration of a lookup reveals nothing about the known
  /// secrets.
  std::shared_ptr<const Caller> find(std::string_view secret) const;
  std::size_t size() const { return current()->size(); }
  /// Replaces all tokens by those of `newer`. A request that find() has admitted goes on.
  void replace(Tokens newer);

 private:
  static constexpr std::size_t kDigestBytes = 32;
  struct Entry {
    std::array<unsigned char, kDigestBytes> digest{};
    std::shared_ptr<const Caller> caller;
  };
  using Entries = std::vector<Entry>;
  struct State {
    mutable Mutex mutex;
    std::shared_ptr<const Entries> entries ASSAY_GUARDED_BY(mutex);
  };

  explicit Tokens(Entries entries);
  std::shared_ptr<const Entries> current() const;

  std::unique_ptr<State> state_;
};

/// Returns the name and the scopes of a token as a JSON object, for GET /whoami. Both are null if
/// the server has no tokens.
std::string describe_token(const std::shared_ptr<const Caller>& caller);

struct NewToken {
  std::string secret;  // must be shown once and not stored
  std::string line;    // the line for the token file
};
/// Creates a new token. `expires` is the end of its validity in the form of RFC 3339; empty: the
/// token stays valid. Errors: invalid_argument if `name` has other characters than letters, digits,
/// dots, hyphens and underscores, if `name` is not 1 to 64 characters long, if a scope is unknown,
/// or if `expires` is no time.
Result<NewToken> new_token(const std::string& name, const std::vector<std::string>& scopes,
                           const std::vector<std::string>& known_scopes,
                           const std::string& expires = "");

}  // namespace assay::mcp
