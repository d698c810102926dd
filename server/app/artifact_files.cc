#include "server/app/artifact_files.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <system_error>

namespace assay::server {
namespace {

constexpr std::size_t kMaxNameBytes = 120;

std::string plain(const std::string& name) {
  std::string text = name.substr(0, kMaxNameBytes);
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return c >= 0x80 || (std::isalnum(c) == 0 && c != '_' && c != '-'); },
      '-');
  return text.empty() ? "unnamed" : text;
}

Status write(const std::filesystem::path& path, const std::string& bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"),
                                                             &std::fclose);
  if (!file) return fail_errno("open " + path.string());
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0)
    return fail_errno("write " + path.string());
  return {};
}

}  // namespace

Result<std::vector<std::filesystem::path>> write_artifacts(
    const std::vector<sandbox::Artifact>& artifacts, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::io, "make folder " + folder.string() + ": " + error.message());
  std::vector<std::filesystem::path> files;
  std::map<std::string, int> taken;
  for (const sandbox::Artifact& artifact : artifacts) {
    const std::string stem = plain(artifact.name);
    const std::string suffix = "." + plain(artifact.kind);
    const int count = ++taken[stem + suffix];
    const std::filesystem::path path =
        folder / (stem + (count > 1 ? "-" + std::to_string(count) : "") + suffix);
    if (const Status written = write(path, artifact.bytes); !written) return fail(written.error());
    files.push_back(path);
  }
  return files;
}

}  // namespace assay::server
