#include "base/base64.h"

#include <openssl/evp.h>

namespace assay {

std::string base64_encode(std::string_view bytes) {
  // The buffer has one more byte than the text, because the encoder ends its output with a zero
  // byte.
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  std::size_t padding = 0;  // EVP_DecodeBlock counts the padding as zero bytes
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  // EVP_DecodeBlock accepts white space at both ends, and unused bits that are not 0. This
  // comparison rejects such texts.
  if (base64_encode(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace assay
