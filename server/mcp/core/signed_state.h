// requestState: the state of a handler, which travels through the client between two rounds of a
// call. A client may change it, so it is sealed: HMAC-SHA256 over the state, the request that it
// belongs to, and the time at which it expires.
//
//   const SignedState seal(random_key(), std::chrono::minutes(10));
//   const std::string sent = seal.seal(state, binding);
//   const auto back = seal.open(sent, binding);  // nothing when forged, of another request or
//                                                // caller, or too old
//
// It is authenticated, not encrypted, and may be replayed until it expires. Immutable, thread-safe.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace assay::mcp {

/// 32 bytes from the system's entropy.
std::string random_key();

/// The request that a state belongs to: its method, the params that do not vary between rounds, and
/// the caller.
std::string binding_of(const std::string& method, const nlohmann::json& params,
                       const std::string& principal);

class SignedState {
 public:
  /// `clock` must outlive the object. Its wall-clock time counts, so that a configured key serves
  /// several processes.
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
