#include "server/mcp/oauth/jwk_set.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxKeys = 64;
constexpr int kMinRsaBits = 2048;
constexpr int kMaxRsaBits = 8192;
constexpr std::size_t kMaxRsaBytes = kMaxRsaBits / 8;
constexpr std::size_t kMaxExponentBytes = 8;
constexpr std::size_t kCoordinateBytes = 32;  // of P-256
constexpr std::size_t kEd25519Bytes = 32;
constexpr const char* kP256 = "prime256v1";  // OpenSSL's name of P-256

struct Freer {
  void operator()(BIGNUM* value) const { BN_free(value); }
  void operator()(OSSL_PARAM_BLD* value) const { OSSL_PARAM_BLD_free(value); }
  void operator()(OSSL_PARAM* value) const { OSSL_PARAM_free(value); }
  void operator()(EVP_PKEY_CTX* value) const { EVP_PKEY_CTX_free(value); }
  void operator()(EVP_MD_CTX* value) const { EVP_MD_CTX_free(value); }
  void operator()(ECDSA_SIG* value) const { ECDSA_SIG_free(value); }
};
template <class T>
using Owned = std::unique_ptr<T, Freer>;

const unsigned char* data_of(const std::string& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Owned<BIGNUM> number_of(std::string_view bytes) {
  return Owned<BIGNUM>(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                                 static_cast<int>(bytes.size()), nullptr));
}

std::string text_of(const json& jwk, const char* name) {
  const auto found = jwk.find(name);
  return found != jwk.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns the decoded bytes of a member, or an error if it is missing, malformed or too long.
Result<std::string> bytes_of(const json& jwk, const char* name, std::size_t max_bytes) {
  auto bytes = base64url_decode(text_of(jwk, name));
  if (!bytes || bytes->empty() || bytes->size() > max_bytes)
    return fail(ErrorCode::corrupt, std::string("the member '") + name +
                                        "' of a key must be base64url of 1 to " +
                                        std::to_string(max_bytes) + " bytes");
  return std::move(*bytes);
}

/// Makes a public key from the parameters. Returns null if OpenSSL finds them wrong, for example if
/// a point is not on its curve.
std::shared_ptr<EVP_PKEY> key_from(const char* type, OSSL_PARAM_BLD* builder) {
  const Owned<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  std::shared_ptr<EVP_PKEY> made(key, EVP_PKEY_free);
  const Owned<EVP_PKEY_CTX> check(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  return check && EVP_PKEY_public_check(check.get()) == 1 ? made : nullptr;
}

std::shared_ptr<EVP_PKEY> rsa_key(const std::string& modulus, const std::string& exponent) {
  const Owned<BIGNUM> n = number_of(modulus);
  const Owned<BIGNUM> e = number_of(exponent);
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) > kMaxRsaBits || BN_is_odd(e.get()) == 0 ||
      BN_is_one(e.get()) == 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
    return nullptr;
  return key_from("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> p256_key(const std::string& x, const std::string& y) {
  if (x.size() != kCoordinateBytes || y.size() != kCoordinateBytes) return nullptr;
  const std::string point = "\x04" + x + y;  // 4: both coordinates follow
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, kP256, 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1)
    return nullptr;
  return key_from("EC", builder.get());
}

std::shared_ptr<EVP_PKEY> ed25519_key(const std::string& x) {
  if (x.size() != kEd25519Bytes) return nullptr;
  EVP_PKEY* key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data_of(x), x.size());
  return key == nullptr ? nullptr : std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free);
}

/// Returns true if the key may verify signatures, as far as its members `use` and `key_ops` say.
bool is_for_signatures(const json& jwk) {
  const auto use = jwk.find("use");
  if (use != jwk.end() && *use != "sig") return false;
  const auto operations = jwk.find("key_ops");
  return operations == jwk.end() ||
         (operations->is_array() &&
          std::find(operations->begin(), operations->end(), "verify") != operations->end());
}

/// Converts the two numbers of a JWS signature to the DER form that OpenSSL verifies. Returns "" if
/// the signature does not have the length of two numbers.
std::string der_of(const std::string& signature) {
  if (signature.size() != 2 * kCoordinateBytes) return "";
  const Owned<ECDSA_SIG> pair(ECDSA_SIG_new());
  Owned<BIGNUM> r = number_of(std::string_view(signature).substr(0, kCoordinateBytes));
  Owned<BIGNUM> s = number_of(std::string_view(signature).substr(kCoordinateBytes));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return "";
  static_cast<void>(r.release());  // `pair` owns both numbers now
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(pair.get(), nullptr);
  if (size <= 0) return "";
  std::string der(static_cast<std::size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  return i2d_ECDSA_SIG(pair.get(), &out) == size ? der : "";
}

bool is_signed_by(EVP_PKEY* key, SignatureAlgorithm algorithm, const std::string& text,
                  const std::string& signature) {
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* options = nullptr;  // belongs to `context`
  const EVP_MD* digest = algorithm == SignatureAlgorithm::ed25519 ? nullptr : EVP_sha256();
  if (!context || EVP_DigestVerifyInit(context.get(), &options, digest, nullptr, key) != 1)
    return false;
  if (algorithm == SignatureAlgorithm::ps256 &&
      (EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) <= 0 ||
       EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) <= 0))
    return false;
  const std::string der = algorithm == SignatureAlgorithm::es256 ? der_of(signature) : signature;
  return !der.empty() &&
         EVP_DigestVerify(context.get(), data_of(der), der.size(), data_of(text), text.size()) == 1;
}

}  // namespace

JwkSet::KeyType JwkSet::type_for(SignatureAlgorithm algorithm) {
  switch (algorithm) {
    case SignatureAlgorithm::rs256:
    case SignatureAlgorithm::ps256: return KeyType::rsa;
    case SignatureAlgorithm::es256: return KeyType::p256;
    case SignatureAlgorithm::ed25519: break;
  }
  return KeyType::ed25519;
}

Result<std::shared_ptr<EVP_PKEY>> JwkSet::make_key(KeyType type, const json& jwk) {
  std::shared_ptr<EVP_PKEY> key;
  if (type == KeyType::rsa) {
    ASSAY_TRY(n, bytes_of(jwk, "n", kMaxRsaBytes));
    ASSAY_TRY(e, bytes_of(jwk, "e", kMaxExponentBytes));
    key = rsa_key(n, e);
  } else if (type == KeyType::p256) {
    ASSAY_TRY(x, bytes_of(jwk, "x", kCoordinateBytes));
    ASSAY_TRY(y, bytes_of(jwk, "y", kCoordinateBytes));
    key = p256_key(x, y);
  } else {
    ASSAY_TRY(x, bytes_of(jwk, "x", kEd25519Bytes));
    key = ed25519_key(x);
  }
  if (!key) return fail(ErrorCode::corrupt, "the numbers of a key form no valid public key");
  return key;
}

Result<std::optional<JwkSet::Key>> JwkSet::parse_key(const json& jwk) {
  if (!jwk.is_object()) return fail(ErrorCode::corrupt, "each key must be an object");
  Key key;
  const std::string kind = text_of(jwk, "kty");
  const std::string curve = text_of(jwk, "crv");
  if (kind == "RSA")
    key.type = KeyType::rsa;
  else if (kind == "EC" && curve == "P-256")
    key.type = KeyType::p256;
  else if (kind == "OKP" && curve == "Ed25519")
    key.type = KeyType::ed25519;
  else
    return std::nullopt;
  if (!is_for_signatures(jwk)) return std::nullopt;
  if (jwk.contains("alg")) {
    key.only = signature_algorithm(text_of(jwk, "alg"));
    if (!key.only || type_for(*key.only) != key.type) return std::nullopt;
  }
  key.id = text_of(jwk, "kid");
  ASSAY_TRY(made, make_key(key.type, jwk));
  if (key.type == KeyType::rsa && EVP_PKEY_get_bits(made.get()) < kMinRsaBits) return std::nullopt;
  key.key = std::move(made);
  return key;
}

Result<JwkSet> JwkSet::parse(std::string_view text) {
  ASSAY_TRY(object, parse_strict_object(text, "the key set"));
  const auto list = object.find("keys");
  if (list == object.end() || !list->is_array() || list->size() > kMaxKeys)
    return fail(ErrorCode::corrupt, "the key set must have 'keys', a list of at most " +
                                        std::to_string(kMaxKeys) + " keys");
  JwkSet keys;
  for (const json& jwk : *list) {
    ASSAY_TRY(key, parse_key(jwk));
    if (key) keys.keys_.push_back(std::move(*key));
  }
  if (keys.keys_.empty())
    return fail(ErrorCode::corrupt,
                std::string("the key set has no key for signatures of ") + kSignatureAlgorithms);
  return keys;
}

const JwkSet::Key* JwkSet::key_for(const Jwt& jwt) const {
  const Key* found = nullptr;
  for (const Key& key : keys_) {
    if (key.type != type_for(jwt.algorithm) || (key.only && *key.only != jwt.algorithm)) continue;
    if (!jwt.key_id.empty() && key.id != jwt.key_id) continue;
    if (found != nullptr) return nullptr;  // two keys fit, so it is not clear which one is meant
    found = &key;
  }
  return found;
}

bool JwkSet::verify(const Jwt& jwt) const {
  const Key* key = key_for(jwt);
  return key != nullptr &&
         is_signed_by(key->key.get(), jwt.algorithm, jwt.signed_part, jwt.signature);
}

}  // namespace assay::mcp
