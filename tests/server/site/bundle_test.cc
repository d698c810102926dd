#include "server/site/bundle.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::site;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("a missing bundle is an error that says how to build it") {
  const testing::TemporaryFolder root;
  const Result<Bundle> missing = find_bundle(root.path());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::unavailable);
  CHECK(missing.error().message.find("site/build.sh") != std::string::npos);
  CHECK(missing.error().message.find("Node.js") != std::string::npos);
}

TEST_CASE("data replaces the mark of the page, and a page without a mark is refused") {
  const testing::TemporaryFolder root;
  for (const char* name : {"index.html", "live.html", "site.js", "site.css"})
    write(root.path() / "site/dist" / name, "x");
  write(root.path() / "site/dist/page.html", "<a>@ASSAY_DATA@</a>");
  const Result<Bundle> bundle = find_bundle(root.path());
  REQUIRE(bundle);
  CHECK(page_with(*bundle, "{\"a\":\"@ASSAY_DATA@\"}").value() ==
        "<a>{\"a\":\"@ASSAY_DATA@\"}</a>");
  const fs::path out = root.path() / "out";
  REQUIRE(prepare_folder(out));
  REQUIRE(copy_bundle(*bundle, out));
  CHECK(fs::exists(out / "assets/site.js"));
  write(root.path() / "site/dist/page.html", "<a></a>");
  CHECK(page_with(*bundle, "{}").error().code == ErrorCode::corrupt);
}

TEST_CASE("a folder with other files is not overwritten, and an older site loses its data") {
  const testing::TemporaryFolder root;
  write(root.path() / "mine/letter.txt", "dear");
  const Status refused = prepare_folder(root.path() / "mine");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(fs::exists(root.path() / "mine/letter.txt"));
  write(root.path() / "site/data/index.js", "old");
  write(root.path() / "site/data/details-7.js", "old");
  REQUIRE(prepare_folder(root.path() / "site"));
  CHECK_FALSE(fs::exists(root.path() / "site/data/details-7.js"));
}
