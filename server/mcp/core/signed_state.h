// SignedState protects requestState, which is the state of a handler between two calls. The state
// travels through the client, and the client could change it. Therefore seal() adds an HMAC-SHA256
// over the state, the request that the state belongs to, and the state's expiry time.
//
//   const SignedState signature(random_key(), std::chrono::minutes(10));
//   const std::string sent = signature.seal("round 1", binding);
//   const std::optional<std::string> back = signature.open(sent, binding);  // "round 1"
//
// open() returns nothing if the state is forged or expired, or if it belongs to a different request
// or caller. The state is authenticated, not encrypted, so a client can read it. A client may send
// the state again until it expires. Immutable, thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace assay::mcp {

/// Returns 32 bytes from the system's random number generator.
std::string random_key();

/// Returns a hash of the request that a state belongs to. The hash covers the method, the caller
/// (`principal`), and the params that stay the same when the client repeats the request with its
/// answers.
std::string binding_of(const std::string& method, const nlohmann::json& params,
                       const std::string& principal);

class SignedState {
 public:
  /// The clock must outlive the object. The expiry uses wall-clock time, so that several processes,
  /// also on different machines, can share a key.
  SignedState(std::string key, std::chrono::milliseconds lifetime,
              const Clock& clock = system_clock())
      : key_(std::move(key)), lifetime_(lifetime), clock_(clock) {}

  std::string seal(std::string_view state, const std::string& binding) const;
  std::optional<std::string> open(std::string_view sealed, const std::string& binding) const;

 private:
  std::string mac(std::string_view payload, const std::string& binding) const;

  const std::string key_;
  const std::chrono::milliseconds lifetime_;
  const Clock& clock_;
};

}  // namespace assay::mcp
