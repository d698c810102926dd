#include "server/bundle/envelope.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <optional>

#include "base/base64.h"
#include "base/handle.h"
#include "base/json.h"
#include "base/json_depth.h"

namespace assay::bundle {
namespace {

using nlohmann::json;

constexpr std::size_t kKeyBytes = 32, kSignatureBytes = 64;
constexpr std::size_t kFingerprintDigits = 32;

struct FreeOpenssl {
  void operator()(BIO* value) const { BIO_free(value); }
  void operator()(EVP_PKEY* value) const { EVP_PKEY_free(value); }
  void operator()(EVP_MD_CTX* value) const { EVP_MD_CTX_free(value); }
};
template <class T>
using Held = std::unique_ptr<T, FreeOpenssl>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// Answers OpenSSL's question for the password of an encrypted key: there is none.
int no_password(char*, int, int, void*) { return 0; }

/// Returns the bytes that are signed: the type and the payload with their lengths, so that neither
/// can be taken for a part of the other.
std::string signed_bytes(std::string_view type, std::string_view payload) {
  std::string bytes = "DSSEv1 " + std::to_string(type.size()) + " ";
  bytes.append(type).append(" ").append(std::to_string(payload.size())).append(" ");
  return bytes.append(payload);
}

bool is_signature_of(std::string_view bytes, std::string_view signature,
                     std::string_view public_key) {
  if (public_key.size() != kKeyBytes || signature.size() != kSignatureBytes) return false;
  const Held<EVP_PKEY> key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                                       bytes_of(public_key), public_key.size()));
  const Held<EVP_MD_CTX> context(EVP_MD_CTX_new());
  return key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(bytes),
                          bytes.size()) == 1;
}

/// Returns the decoded bytes of a member of the object, or nothing.
std::optional<std::string> base64_member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return base64_decode(found->get_ref<const std::string&>());
}

tl::unexpected<Error> no_envelope(const std::string& why) {
  return fail(ErrorCode::corrupt, "this is no signed bundle: " + why);
}

}  // namespace

Result<SigningKey> SigningKey::parse(const std::string& pem) {
  const Held<BIO> input(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::shared_ptr<EVP_PKEY> key(
      input ? PEM_read_bio_PrivateKey(input.get(), nullptr, no_password, nullptr) : nullptr,
      FreeOpenssl());
  if (!key || EVP_PKEY_id(key.get()) != EVP_PKEY_ED25519)
    return fail(ErrorCode::corrupt,
                "this is no private Ed25519 key in PEM without a password; make one with: openssl "
                "genpkey -algorithm ed25519 -out key.pem");
  return SigningKey(std::move(key));
}

Result<std::string> SigningKey::public_key() const {
  std::string bytes(kKeyBytes, '\0');
  std::size_t size = bytes.size();
  auto* out = reinterpret_cast<unsigned char*>(bytes.data());
  if (EVP_PKEY_get_raw_public_key(static_cast<EVP_PKEY*>(key_.get()), out, &size) != 1)
    return fail(ErrorCode::internal, "OpenSSL gives no public key");
  return bytes;
}

Result<std::string> SigningKey::sign(std::string_view bytes) const {
  const Held<EVP_MD_CTX> context(EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  auto* out = reinterpret_cast<unsigned char*>(signature.data());
  if (!context ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                         static_cast<EVP_PKEY*>(key_.get())) != 1 ||
      EVP_DigestSign(context.get(), out, &size, bytes_of(bytes), bytes.size()) != 1)
    return fail(ErrorCode::internal, "OpenSSL cannot sign");
  return signature;
}

std::string fingerprint_of(std::string_view public_key) {
  return sha256_hex(public_key).substr(0, kFingerprintDigits);
}

Result<std::string> seal(std::string_view type, std::string_view payload, const SigningKey& key) {
  ASSAY_TRY(public_key, key.public_key());
  ASSAY_TRY(signature, key.sign(signed_bytes(type, payload)));
  const json envelope = {{"payloadType", type},
                         {"payload", base64_encode(payload)},
                         {"signatures", json::array({{{"keyid", fingerprint_of(public_key)},
                                                      {"public_key", base64_encode(public_key)},
                                                      {"sig", base64_encode(signature)}}})}};
  return json_text(envelope) + "\n";
}

Result<OpenedEnvelope> open_envelope(std::string_view text, std::string_view type) {
  if (text.size() > kMaxEnvelopeBytes)
    return fail(ErrorCode::resource_exhausted,
                "a bundle has at most " + std::to_string(kMaxEnvelopeBytes) + " bytes");
  // An envelope has three levels. A deeper one is not parsed, because it could exhaust the stack.
  constexpr int kLevels = 3;
  const Result<json> parsed = parse_json(text, kLevels);
  if (!parsed || !parsed->is_object()) return no_envelope("it is no JSON object of an envelope");
  const json& envelope = *parsed;
  const auto named = envelope.find("payloadType");
  if (named == envelope.end() || *named != type)
    return no_envelope("its payloadType is not " + std::string(type));
  std::optional<std::string> payload = base64_member(envelope, "payload");
  if (!payload) return no_envelope("its payload is no base64");
  const auto signatures = envelope.find("signatures");
  if (signatures == envelope.end() || !signatures->is_array() || signatures->size() != 1 ||
      !signatures->front().is_object())
    return no_envelope("it must have one signature");
  const std::optional<std::string> public_key = base64_member(signatures->front(), "public_key");
  const std::optional<std::string> signature = base64_member(signatures->front(), "sig");
  if (!public_key || !signature ||
      !is_signature_of(signed_bytes(type, *payload), *signature, *public_key))
    return no_envelope("its signature is wrong; the bundle was changed after it was signed");
  return OpenedEnvelope{std::move(*payload), fingerprint_of(*public_key)};
}

}  // namespace assay::bundle
