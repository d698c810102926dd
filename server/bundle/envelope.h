// Signs a text with Ed25519, and opens signed texts. The form is a DSSE envelope (Dead Simple
// Signing Envelope, version 1): JSON with the text in base64, the type of the text, and signatures
// over both. An envelope contains the public key of its signature. So a valid signature only proves
// that nobody changed the text since the owner of this key signed it; the fingerprint names the
// key.
//
//   ASSAY_TRY(key, SigningKey::parse(pem));
//   ASSAY_TRY(envelope, seal("application/vnd.assay.run+json", payload, key));
//   ASSAY_TRY(opened, open_envelope(envelope, "application/vnd.assay.run+json"));
//   show(opened.payload, opened.fingerprint);
//
// Envelopes are untrusted: open_envelope() accepts any bytes. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::bundle {

/// The most bytes of an envelope.
inline constexpr std::size_t kMaxEnvelopeBytes = 64U << 20;

class SigningKey {
 public:
  /// Reads a private Ed25519 key in PEM (PKCS #8), as `openssl genpkey -algorithm ed25519` writes
  /// it. Error: corrupt for any other text, also for an encrypted key.
  static Result<SigningKey> parse(const std::string& pem);
  /// Returns the public key, 32 bytes.
  Result<std::string> public_key() const;
  /// Returns the signature of the bytes, 64 bytes.
  Result<std::string> sign(std::string_view bytes) const;

 private:
  explicit SigningKey(std::shared_ptr<void> key) : key_(std::move(key)) {}
  std::shared_ptr<void> key_;  // an EVP_PKEY
};

/// Returns the first 32 hexadecimal digits of the SHA-256 of a public key.
std::string fingerprint_of(std::string_view public_key);

/// Returns the envelope as JSON. Errors: internal if OpenSSL fails.
Result<std::string> seal(std::string_view type, std::string_view payload, const SigningKey& key);

struct OpenedEnvelope {
  std::string payload;
  std::string fingerprint;  // of the key that signed it
};
/// Checks the signature and returns the payload. Errors: corrupt if the text is no envelope with
/// exactly one valid signature of this type; resource_exhausted if it is too large.
Result<OpenedEnvelope> open_envelope(std::string_view text, std::string_view type);

}  // namespace assay::bundle
