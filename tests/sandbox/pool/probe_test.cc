#include "sandbox/pool/probe.h"

#include <filesystem>
#include <string>

#include "base/handle.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

/// A link to the launcher, in a folder whose name needs quotes in a shell.
class LinkedLauncher {
 public:
  LinkedLauncher()
      : folder_(std::filesystem::temp_directory_path() /
                (new_handle("probe") + " it's \"$HOME\"")) {
    std::filesystem::create_directories(folder_);
    std::filesystem::create_symlink(std::string(ASSAY_BINARY_DIR) + "/bin/assay-launcher", path());
  }
  ~LinkedLauncher() { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "assay-launcher").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("probe: the path of the launcher may have any character") {
  const LinkedLauncher launcher;
  SandboxConfig config;
  config.launcher = launcher.path();
  const DriverProbe found = probe_driver(config, "fake");
  CHECK(found.reason.empty());
  CHECK(found.gpus.size() == 1);
}

TEST_CASE("probe: a launcher that is missing or prints no JSON is the reason") {
  SandboxConfig config;
  config.launcher = "/no/such/launcher";
  const DriverProbe missing = probe_driver(config, "fake");
  CHECK(missing.reason == "/no/such/launcher --probe gave no answer");
  CHECK(missing.gpus.empty());
  config.launcher = "/bin/echo";
  const DriverProbe strange = probe_driver(config, "fake");
  CHECK(strange.reason.starts_with("/bin/echo --probe: "));
  CHECK(strange.gpus.empty());
}
