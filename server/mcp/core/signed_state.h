// requestState: a handler's memory that travels through the client between two rounds of a call.
// What comes back is an attacker's input, so it is sealed: HMAC-SHA256 over the state, the request
// that it belongs to, and when it ends.
//
//   StateSeal seal(random_key(), 10min);
//   std::string sent = seal.seal(state, binding);
//   auto back = seal.open(sent, binding);           // nothing when forged, of another request or
//   caller, or too old
//
// It is authenticated, not encrypted, and may be replayed while it lasts. Immutable, thread-safe.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace assay::mcp {

/// 32 bytes from the system's entropy.
std::string random_key();

/// What a state belongs to: method, everything in `params` that says what is asked for, and who
/// asks.
std::string binding_of(const std::string& method, const nlohmann::json& params,
                       const std::string& principal);

class SignedState {
 public:
  SignedState(std::string key, std::chrono::milliseconds lifetime)
      : key_(std::move(key)), lifetime_(lifetime) {}

  std::string seal(std::string_view state, const std::string& binding) const;
  std::optional<std::string> open(std::string_view sealed, const std::string& binding) const;

 private:
  std::string mac(std::string_view payload, const std::string& binding) const;

  const std::string key_;
  const std::chrono::milliseconds lifetime_;
};

}  // namespace assay::mcp
