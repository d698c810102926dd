// Makes key pairs and signs tokens with them, as an identity provider does. The tests can make each
// part of a token wrong.
#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>

#include "base/base64.h"
#include "base/json.h"
#include "tests/catch.h"

namespace assay::mcp::test {

using nlohmann::json;

inline std::string base64url(const std::string& bytes) {
  std::string text = base64_encode(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

class SigningKey {
 public:
  static SigningKey rsa(const std::string& id, unsigned bits = 2048) {
    return SigningKey(id, EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{bits}));
  }
  static SigningKey p256(const std::string& id) {
    return SigningKey(id, EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  }
  static SigningKey ed25519(const std::string& id) {
    return SigningKey(id, EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  }

  /// Returns the public key as a JSON Web Key.
  json jwk() const {
    json out = {{"kid", id_}};
    if (EVP_PKEY_is_a(key_.get(), "RSA") == 1) {
      out["kty"] = "RSA";
      out["n"] = base64url(number("n"));
      out["e"] = base64url(number("e"));
    } else if (EVP_PKEY_is_a(key_.get(), "EC") == 1) {
      out["kty"] = "EC";
      out["crv"] = "P-256";
      out["x"] = base64url(number("qx", 32));
      out["y"] = base64url(number("qy", 32));
    } else {
      std::string raw(32, '\0');
      std::size_t size = raw.size();
      REQUIRE(EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(raw.data()),
                                          &size) == 1);
      out["kty"] = "OKP";
      out["crv"] = "Ed25519";
      out["x"] = base64url(raw);
    }
    return out;
  }

  /// Signs with the algorithm of this name: RS256, PS256, ES256 or EdDSA.
  std::string sign(const std::string& text, const std::string& algorithm) const {
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
    EVP_PKEY_CTX* options = nullptr;
    const EVP_MD* digest = algorithm == "EdDSA" ? nullptr : EVP_sha256();
    REQUIRE(EVP_DigestSignInit(context.get(), &options, digest, nullptr, key_.get()) == 1);
    if (algorithm == "PS256") {
      REQUIRE(EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) > 0);
      REQUIRE(EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) > 0);
    }
    std::string signature(1024, '\0');
    std::size_t size = signature.size();
    REQUIRE(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                           reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1);
    signature.resize(size);
    return algorithm == "ES256" ? two_numbers(signature) : signature;
  }

  /// Returns a token with this header and these claims. The header gets the key's id.
  std::string token(json header, const json& claims) const {
    if (!header.contains("kid")) header["kid"] = id_;
    return token_of(header.dump(), claims.dump(), header.value("alg", "RS256"));
  }
  /// Returns a token whose header and payload are these texts.
  std::string token_of(const std::string& header, const std::string& payload,
                       const std::string& algorithm) const {
    const std::string text = base64url(header) + "." + base64url(payload);
    return text + "." + base64url(sign(text, algorithm));
  }

 private:
  SigningKey(std::string id, EVP_PKEY* key) : id_(std::move(id)), key_(key, EVP_PKEY_free) {
    REQUIRE(key != nullptr);
  }
  std::string number(const char* name, int width = 0) const {
    BIGNUM* value = nullptr;
    REQUIRE(EVP_PKEY_get_bn_param(key_.get(), name, &value) == 1);
    std::string bytes(static_cast<std::size_t>(width > 0 ? width : BN_num_bytes(value)), '\0');
    BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()),
                 static_cast<int>(bytes.size()));
    BN_free(value);
    return bytes;
  }
  static std::string two_numbers(const std::string& der) {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
    REQUIRE(pair != nullptr);
    std::string raw(64, '\0');
    auto* out = reinterpret_cast<unsigned char*>(raw.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + 32, 32);
    ECDSA_SIG_free(pair);
    return raw;
  }

  std::string id_;
  std::shared_ptr<EVP_PKEY> key_;
};

/// One key of each type. Making an RSA key takes long, so all tests share these.
struct SigningKeys {
  SigningKey rsa = SigningKey::rsa("r"), p256 = SigningKey::p256("e"),
             ed25519 = SigningKey::ed25519("o");
  std::string key_set() const {
    return json{{"keys", {rsa.jwk(), p256.jwk(), ed25519.jwk()}}}.dump();
  }
};
inline const SigningKeys& signing_keys() {
  static const SigningKeys keys;
  return keys;
}

}  // namespace assay::mcp::test
