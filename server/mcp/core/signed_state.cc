#include "server/mcp/core/signed_state.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/base64.h"
#include "base/handle.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kMacBytes = 32;

}  // namespace

std::string random_key() {
  std::string key(kKeyBytes, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    std::abort();  // a guessable key must never be used
  return key;
}

std::string binding_of(const std::string& method, const json& params,
                       const std::string& principal) {
  json what = params;
  for (const char* varies : {"_meta", "inputResponses", "requestState"}) what.erase(varies);
  return sha256_hex(json::array({method, std::move(what), principal})
                        .dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string SignedState::mac(std::string_view payload, const std::string& binding) const {
  const std::string message = binding + ":" + std::string(payload);
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  if (::HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(), out.data(),
             &size) == nullptr ||
      size != kMacBytes) {
    std::abort();  // unauthenticated state must never be accepted
  }
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string SignedState::seal(std::string_view state, const std::string& binding) const {
  const std::string payload =
      std::to_string(clock_.unix_ms() + lifetime_.count()) + ":" + std::string(state);
  return base64_encode(mac(payload, binding) + payload);
}

std::optional<std::string> SignedState::open(std::string_view sealed,
                                             const std::string& binding) const {
  const auto bytes = base64_decode(sealed);
  if (!bytes || bytes->size() <= kMacBytes) return std::nullopt;
  const std::string payload = bytes->substr(kMacBytes);
  if (CRYPTO_memcmp(bytes->data(), mac(payload, binding).data(), kMacBytes) != 0)
    return std::nullopt;
  const std::size_t colon = payload.find(':');
  if (colon == std::string::npos || std::strtoll(payload.c_str(), nullptr, 10) <= clock_.unix_ms())
    return std::nullopt;
  return payload.substr(colon + 1);
}

}  // namespace assay::mcp
