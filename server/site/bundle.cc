#include "server/site/bundle.h"

#include <array>
#include <fstream>
#include <sstream>
#include <utility>

namespace assay::site {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"index.html", "page.html", "live.html", "site.js", "site.css"};
constexpr std::string_view kDataMark = "@ASSAY_DATA@";  // stands in page.html once
constexpr const char* kIndexData = "index.js";

Status io_error(const std::string& what, const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::io, what + " " + path.string() + ": " + error.message());
}

Status copy_over(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (!error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  return error ? io_error("cannot write", to, error) : Status();
}

}  // namespace

Result<Bundle> find_bundle(const fs::path& root) {
  Bundle bundle{root / "site/dist"};
  std::error_code error;
  for (const char* name : kFiles) {
    if (fs::is_regular_file(bundle.folder / name, error)) continue;
    return fail(ErrorCode::unavailable,
                (bundle.folder / name).string() + " is missing: the pages are not built. `" +
                    (root / "site/build.sh").string() +
                    "` builds them; it needs Node.js 18 and npm (on Debian and Ubuntu: apt-get "
                    "install npm). All other commands work without them");
  }
  return bundle;
}

Status prepare_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path data = folder / "data";
  const bool is_site = fs::exists(data / kIndexData, error);
  if (fs::exists(folder, error) && !is_site) {
    const bool is_empty = fs::is_empty(folder, error);
    if (error) return io_error("cannot read", folder, error);
    if (!is_empty)
      return fail(ErrorCode::invalid_argument,
                  folder.string() + " has files that are not of a site; name an empty folder");
  }
  fs::remove_all(data, error);
  if (error) return io_error("cannot remove", data, error);
  fs::create_directories(data, error);
  return error ? io_error("cannot create", data, error) : Status();
}

Status copy_bundle(const Bundle& bundle, const fs::path& folder) {
  ASSAY_RETURN_IF_ERROR(copy_over(bundle.folder / "index.html", folder / "index.html"));
  ASSAY_RETURN_IF_ERROR(copy_over(bundle.folder / "site.css", folder / "assets/site.css"));
  return copy_over(bundle.folder / "site.js", folder / "assets/site.js");
}

Result<std::string> page_with(const Bundle& bundle, const std::string& data) {
  const fs::path path = bundle.folder / "page.html";
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::io, "cannot read " + path.string());
  std::string page = std::move(text).str();
  const std::size_t at = page.find(kDataMark);
  if (at == std::string::npos)
    return fail(ErrorCode::corrupt, path.string() + " has no place for data");
  page.replace(at, kDataMark.size(), data);
  return page;
}

}  // namespace assay::site
