#include "operators/guides.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"

namespace assay::operators {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTitleMark = "# ";
constexpr std::string_view kQuotes = "\"\"\"";
constexpr std::string_view kCheck = "\n\n\ndef check(";
// A tool's answer contains a whole guide, so the size of a guide is limited.
constexpr std::uintmax_t kMaxGuideBytes = 20'000;
// Even a concise answer contains a whole example, so the size of an example is limited.
constexpr std::uintmax_t kMaxExampleBytes = 3'000;

/// Returns the files of `folder` with this extension, sorted by name.
Result<std::vector<fs::path>> files_in(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == extension) paths.push_back(it->path());
  }
  if (code) return fail(ErrorCode::io, "list " + folder.string() + ": " + code.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::string> read_at_most(const fs::path& path, std::uintmax_t max_bytes) {
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code);
  if (code) return fail(ErrorCode::io, path.string() + ": " + code.message());
  if (size > max_bytes)
    return fail(ErrorCode::invalid_argument,
                path.string() + ": larger than " + std::to_string(max_bytes) + " bytes");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail_errno("open " + path.string());
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) return fail_errno("read " + path.string());
  return text;
}

Result<Guide> load_guide(const fs::path& path) {
  Guide guide;
  guide.topic = path.stem().string();
  ASSAY_TRY(text, read_at_most(path, kMaxGuideBytes));
  guide.text = std::move(text);
  const std::string first = guide.text.substr(0, guide.text.find('\n'));
  if (!first.starts_with(kTitleMark) || first.size() == kTitleMark.size()) {
    return fail(ErrorCode::invalid_argument,
                path.string() + ": the first line must be a title, '# ...'");
  }
  guide.title = first.substr(kTitleMark.size());
  return guide;
}

Result<Example> load_example(const fs::path& path) {
  Example example;
  example.name = path.stem().string();
  ASSAY_TRY(text, read_at_most(path, kMaxExampleBytes));
  if (text.starts_with(kQuotes))
    example.title =
        text.substr(kQuotes.size(),
                    std::min(text.find(kQuotes, kQuotes.size()), text.find('\n')) - kQuotes.size());
  if (example.title.empty())
    return fail(
        ErrorCode::invalid_argument,
        path.string() + ": the first line must be a docstring that says what the example shows");
  const std::size_t check = text.find(kCheck);
  if (check == std::string::npos)
    return fail(ErrorCode::invalid_argument,
                path.string() + ": the function `check` is missing at the end of the file");
  text.resize(check + 1);  // keeps the newline of the last line
  example.source = std::move(text);
  return example;
}

}  // namespace

Result<std::vector<Guide>> load_guides(const fs::path& folder) {
  ASSAY_TRY(paths, files_in(folder, ".md"));
  std::vector<Guide> guides;
  for (const fs::path& path : paths) {
    ASSAY_TRY(guide, load_guide(path));
    guides.push_back(std::move(guide));
  }
  return guides;
}

Result<std::vector<Example>> load_examples(const fs::path& folder) {
  ASSAY_TRY(paths, files_in(folder, ".py"));
  std::vector<Example> examples;
  for (const fs::path& path : paths) {
    ASSAY_TRY(example, load_example(path));
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace assay::operators
