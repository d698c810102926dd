#include "operators/guides.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/try.h"

namespace assay::operators {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTitleMark = "# ";
constexpr std::uintmax_t kMaxGuideBytes = 20'000;  // a client gets the whole guide

Result<Guide> load_guide(const fs::path& path) {
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code);
  if (code) return fail(ErrorCode::io, path.string() + ": " + code.message());
  if (size > kMaxGuideBytes)
    return fail(ErrorCode::invalid_argument,
                path.string() + ": larger than " + std::to_string(kMaxGuideBytes) + " bytes");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail_errno("open " + path.string());
  Guide guide;
  guide.topic = path.stem().string();
  guide.text.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  if (stream.bad()) return fail_errno("read " + path.string());
  const std::string first = guide.text.substr(0, guide.text.find('\n'));
  if (!first.starts_with(kTitleMark) || first.size() == kTitleMark.size()) {
    return fail(ErrorCode::invalid_argument,
                path.string() + ": the first line must be a title, '# ...'");
  }
  guide.title = first.substr(kTitleMark.size());
  return guide;
}

}  // namespace

Result<std::vector<Guide>> load_guides(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".md") paths.push_back(it->path());
  }
  if (code) return fail(ErrorCode::io, "list " + folder.string() + ": " + code.message());
  std::sort(paths.begin(), paths.end());
  std::vector<Guide> guides;
  for (const fs::path& path : paths) {
    ASSAY_TRY(guide, load_guide(path));
    guides.push_back(std::move(guide));
  }
  return guides;
}

namespace fs = std::filesystem;
namespace {

constexpr std::string_view kQuotes = "\"\"\"";
constexpr std::string_view kCheck = "\n\n\ndef check(";
constexpr std::uintmax_t kMaxExampleBytes = 3'000;  // a whole one fits into a concise answer

Result<Example> load_example(const fs::path& path) {
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code);
  if (code) return fail(ErrorCode::io, path.string() + ": " + code.message());
  if (size > kMaxExampleBytes)
    return fail(ErrorCode::invalid_argument,
                path.string() + ": larger than " + std::to_string(kMaxExampleBytes) + " bytes");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail_errno("open " + path.string());
  Example example;
  example.name = path.stem().string();
  example.source.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  if (stream.bad()) return fail_errno("read " + path.string());
  const std::string& text = example.source;
  if (text.starts_with(kQuotes))
    example.title =
        text.substr(kQuotes.size(),
                    std::min(text.find(kQuotes, kQuotes.size()), text.find('\n')) - kQuotes.size());
  if (example.title.empty())
    return fail(ErrorCode::invalid_argument,
                path.string() + ": the first line must be a docstring that says what is shown");
  const std::size_t check = text.find(kCheck);
  if (check == std::string::npos)
    return fail(ErrorCode::invalid_argument, path.string() + ": no function `check` at its end");
  example.source.resize(check + 1);  // keeps the end of the last line
  return example;
}

}  // namespace

Result<std::vector<Example>> load_examples(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".py") paths.push_back(it->path());
  }
  if (code) return fail(ErrorCode::io, "list " + folder.string() + ": " + code.message());
  std::sort(paths.begin(), paths.end());
  std::vector<Example> examples;
  for (const fs::path& path : paths) {
    ASSAY_TRY(example, load_example(path));
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace assay::operators
