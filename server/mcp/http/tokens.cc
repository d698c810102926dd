#include "server/mcp/http/tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cctype>

#include "base/handle.h"
#include "base/json.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {
namespace {

constexpr std::string_view kHashPrefix = "sha256:";
constexpr std::string_view kExpiresPrefix = "expires=";
constexpr std::size_t kMaxNameBytes = 64;
constexpr const char* kSecretPrefix = "assay";

Status check_name(const std::string& name) {
  const bool fine = !name.empty() && name.size() <= kMaxNameBytes &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
                    });
  if (fine) return {};
  return fail(ErrorCode::invalid_argument, "the name '" + name + "' must be 1 to " +
                                               std::to_string(kMaxNameBytes) +
                                               " letters, digits, '.', '-' and '_'");
}

Status check_scopes(const std::vector<std::string>& scopes, const std::vector<std::string>& known) {
  if (scopes.empty())
    return fail(ErrorCode::invalid_argument, "a token needs a scope; valid: " + join(known));
  for (const std::string& scope : scopes) {
    if (std::find(known.begin(), known.end(), scope) == known.end())
      return fail(ErrorCode::invalid_argument,
                  "unknown scope '" + scope + "'; valid: " + join(known));
  }
  return {};
}

int hex_value(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Decodes `text` into `out`. Returns false unless `text` consists of 2 * kBytes lower-case
/// hexadecimal digits.
template <std::size_t kBytes>
bool decode_hex(std::string_view text, std::array<unsigned char, kBytes>& out) {
  if (text.size() != 2 * kBytes) return false;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return true;
}

}  // namespace

Result<Tokens> Tokens::parse(std::string_view text, const std::vector<std::string>& known_scopes) {
  Entries entries;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> words = split(text.substr(0, end), " \t\r");
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty() || words[0][0] == '#') continue;
    const auto wrong = [&](const std::string& what) {
      return fail(ErrorCode::invalid_argument, "line " + std::to_string(number) + ": " + what);
    };
    const bool expires = words.size() == 4 && words[3].rfind(kExpiresPrefix, 0) == 0;
    if (words.size() != 3 && !expires)
      return wrong(
          "must be NAME SCOPE[,SCOPE] sha256:HEX [expires=TIME], as `assay token new` prints it");
    Entry entry;
    const std::vector<std::string> scopes = split(words[1], ",");
    if (const Status fine = check_name(words[0]); !fine) return wrong(fine.error().message);
    if (const Status fine = check_scopes(scopes, known_scopes); !fine)
      return wrong(fine.error().message);
    if (words[2].rfind(kHashPrefix, 0) != 0 ||
        !decode_hex(std::string_view(words[2]).substr(kHashPrefix.size()), entry.digest)) {
      return wrong("the hash must be sha256: and 64 lower-case hexadecimal digits");
    }
    for (const Entry& other : entries) {
      if (other.caller->name == words[0])
        return wrong("there are two tokens named '" + words[0] + "'");
      if (other.digest == entry.digest)
        return wrong("'" + words[0] + "' has the same secret as '" + other.caller->name + "'");
    }
    Result<std::int64_t> end_ms = 0;
    if (expires) end_ms = unix_ms_from(std::string_view(words[3]).substr(kExpiresPrefix.size()));
    if (!end_ms) return wrong(end_ms.error().message);
    entry.caller = std::make_shared<const Caller>(
        Caller{.name = words[0], .scopes = scopes, .expires_unix_ms = *end_ms});
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    return fail(ErrorCode::invalid_argument,
                "it has no token; `assay token new --name NAME --scope practice` makes one");
  return Tokens(std::move(entries));
}

Tokens::Tokens(Entries entries) : state_(std::make_unique<State>()) {
  const MutexLock lock(state_->mutex);
  state_->entries = std::make_shared<const Entries>(std::move(entries));
}

std::shared_ptr<const Tokens::Entries> Tokens::current() const {
  const MutexLock lock(state_->mutex);
  return state_->entries;
}

void Tokens::replace(Tokens newer) {
  const std::shared_ptr<const Entries> entries = newer.current();
  const MutexLock lock(state_->mutex);
  state_->entries = entries;
}

std::shared_ptr<const Caller> Tokens::find(std::string_view secret) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(secret.data(), secret.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != kDigestBytes)
    return nullptr;
  std::shared_ptr<const Caller> found;
  const std::shared_ptr<const Entries> entries = current();
  for (const Entry& entry : *entries) {
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), kDigestBytes) == 0) found = entry.caller;
  }
  return found;
}

std::string describe_token(const std::shared_ptr<const Caller>& caller) {
  nlohmann::json out = {{"name", nullptr}, {"scopes", nullptr}};
  if (caller) out = {{"name", caller->name}, {"scopes", caller->scopes}};
  return dump(out);
}

Result<NewToken> new_token(const std::string& name, const std::vector<std::string>& scopes,
                           const std::vector<std::string>& known_scopes,
                           const std::string& expires) {
  if (const Status fine = check_name(name); !fine) return fail(fine.error());
  if (const Status fine = check_scopes(scopes, known_scopes); !fine) return fail(fine.error());
  std::string end;
  if (!expires.empty()) {
    ASSAY_RETURN_IF_ERROR(unix_ms_from(expires));
    end.append(" ").append(kExpiresPrefix).append(expires);
  }
  const std::string secret = new_handle(kSecretPrefix);
  return NewToken{secret, name + " " + join(scopes, ",") + " " + std::string(kHashPrefix) +
                              sha256_hex(secret) + end};
}

}  // namespace assay::mcp
