#include "server/runs/finished_job.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/log.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

using namespace assay;
using namespace assay::testing;

TEST_CASE("the log has one line for a finished job, without source or cases") {
  const std::string path = std::filesystem::temp_directory_path() / assay::new_handle("job_log");
  const Status started =
      log::configure({.level = log::Level::trace, .format = log::Format::json, .file = path});
  REQUIRE(started);
  std::string handle;
  {
    ServicesFixture services;
    sandbox::Job job = services.job("# fake: pass\nSECRET_SOURCE = 1");
    job.cases[0].id = "secret_case";
    const auto queued = services->jobs().submit({}, job, "", "");
    REQUIRE(queued);
    handle = *queued;
    services.end_of(handle);
  }
  static_cast<void>(log::configure({.level = log::Level::warning}));
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  CHECK(text.find(R"("message":"job finished","job":")" + handle) != std::string::npos);
  CHECK(text.find(R"("operator":"vector_add")") != std::string::npos);
  CHECK(text.find("SECRET_SOURCE") == std::string::npos);
  CHECK(text.find("secret_case") == std::string::npos);
}
