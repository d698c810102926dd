#include "base/handle.h"

#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace assay {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kRandomBytes = 16;
constexpr std::size_t kHandleCharacters = 26;

void fill_random(std::uint8_t* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::getrandom(out + done, size - done, 0);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      std::abort();  // handles without entropy could be guessed
    }
  }
}

std::string hex_of(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  text.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    text += kHex[bytes[i] >> 4];
    text += kHex[bytes[i] & 15];
  }
  return text;
}

}  // namespace

std::string new_handle(std::string_view prefix) {
  std::array<std::uint8_t, kRandomBytes> random{};
  fill_random(random.data(), random.size());
  std::string handle(prefix);
  handle += '_';
  unsigned buffer = 0;
  int bits = 0;
  for (const std::uint8_t byte : random) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      handle += kAlphabet[(buffer >> bits) & 31U];
    }
  }
  handle += kAlphabet[(buffer << (5 - bits)) & 31U];
  return handle;
}

bool is_handle(std::string_view text, std::string_view prefix) {
  if (text.size() != prefix.size() + 1 + kHandleCharacters) return false;
  if (text.substr(0, prefix.size()) != prefix || text[prefix.size()] != '_') return false;
  return text.substr(prefix.size() + 1).find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::string random_hex(std::size_t digits) {
  std::array<std::uint8_t, kRandomBytes> random{};
  const std::size_t bytes = std::min(digits / 2, random.size());
  fill_random(random.data(), bytes);
  return hex_of(random.data(), bytes);
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    std::abort();
  return hex_of(digest.data(), size);
}

}  // namespace assay
