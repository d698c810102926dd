// Finds the pages of the site, which site/build.sh makes from TypeScript, and puts data into them.
// The C++ code writes no markup: it copies the files of the bundle, or replaces one mark in a page
// by the data. Thread-safe.
//
//   const Result<Bundle> bundle = find_bundle(paths.root);
//   const Status copied = copy_bundle(*bundle, "site");  // index.html, assets/site.js, ...
//   const Result<std::string> page = page_with(*bundle, sink.data());
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace assay::site {

struct Bundle {
  std::filesystem::path folder;  // has index.html, page.html, live.html, site.js and site.css
};

/// Finds the bundle below Assay's source tree or package. Error: unavailable; the message says how
/// to make the bundle.
Result<Bundle> find_bundle(const std::filesystem::path& root);

/// Checks that `folder` is missing, empty or an older site, so that nothing else is overwritten,
/// and removes the data of the older site. Errors: invalid_argument if the folder has other files;
/// io.
Status prepare_folder(const std::filesystem::path& folder);

/// Copies the files of a site into the folder. Error: io.
Status copy_bundle(const Bundle& bundle, const std::filesystem::path& folder);

/// Returns the page that is a single file, with `data` in it. `data` is the result of
/// PageSink::data(). Errors: io; corrupt if the page has no place for data.
Result<std::string> page_with(const Bundle& bundle, const std::string& data);

}  // namespace assay::site
