// Receives the parts of a site's data, and writes them as scripts or keeps them for a single page.
// docs/reference/site-data.md describes the parts. The data contains text of submissions and
// models, so each form is safe inside a script element and as a JavaScript string. Not thread-safe.
//
//   FolderSink sink("site");
//   const Status written = sink.put("index", R"({"format": "assay.site/1"})");
//   // site/data/index.js: assayData("index","{\"format\": \"assay.site/1\"}");
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::site {

/// Returns JSON that can stand inside a script element: no "<", ">" or "&", and no line separator
/// of Unicode. `json` must be JSON; it keeps its meaning.
std::string safe_in_script(std::string_view json);

/// Returns a script that calls `assayData` with the name and the JSON text, both as strings. The
/// page parses the text as JSON. So a key such as `__proto__` is an ordinary key.
std::string data_script(std::string_view name, std::string_view json);

class DataSink {
 public:
  virtual ~DataSink() = default;
  /// Takes one part. `name` consists of lower-case letters, digits and "-". Error: io.
  virtual Status put(const std::string& name, const std::string& json) = 0;
};

/// Writes each part into a file in the folder `data`.
class FolderSink final : public DataSink {
 public:
  explicit FolderSink(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status put(const std::string& name, const std::string& json) override;

 private:
  std::filesystem::path folder_;
};

/// Keeps all parts for a page that is a single file.
class PageSink final : public DataSink {
 public:
  Status put(const std::string& name, const std::string& json) override;
  /// Returns one JSON object in one line, whose keys are the names of the parts. Its values are the
  /// parts as JSON texts. It can stand inside a script element.
  std::string data() const;

 private:
  std::vector<std::pair<std::string, std::string>> parts_;
};

}  // namespace assay::site
