#include "server/app/source_file.h"

#include "server/app/file_bytes.h"

namespace assay::server {
namespace {

/// Strict enough to tell a source from a picture: no NUL, and well-formed UTF-8 lead and
/// continuation bytes.
bool looks_like_text(const std::string& bytes) {
  std::size_t continuation = 0;
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte == 0) return false;
    if (continuation > 0) {
      if ((byte & 0xC0U) != 0x80U) return false;
      --continuation;
    } else if (byte >= 0x80U) {
      if ((byte & 0xE0U) == 0xC0U) {
        continuation = 1;
      } else if ((byte & 0xF0U) == 0xE0U) {
        continuation = 2;
      } else if ((byte & 0xF8U) == 0xF0U) {
        continuation = 3;
      } else {
        return false;
      }
    }
  }
  return continuation == 0;
}

}  // namespace

Result<std::string> read_source(const std::string& path, std::int64_t max_bytes) {
  Result<std::string> bytes = read_file_bytes(path, max_bytes, "a submission (source_bytes)");
  if (!bytes) return bytes;
  if (bytes->find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::corrupt, path + " is empty; a submission is the complete source");
  if (!looks_like_text(*bytes))
    return fail(ErrorCode::corrupt, path + " is binary; a submission is UTF-8 source text");
  return bytes;
}

}  // namespace assay::server
