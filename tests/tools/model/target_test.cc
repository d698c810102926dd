#include "tools/model/target.h"

#include "tests/catch.h"

namespace assay::tools {

TEST_CASE("a target has its form; other names of one are told what is meant") {
  CHECK(check_target("cuda:90"));
  CHECK(check_target("hip:gfx942"));
  const auto problem = [](const std::string& target) {
    return check_target(target).error().message;
  };
  CHECK(problem("sm_90").ends_with("hip:gfx950; did you mean cuda:90?"));
  CHECK(problem("sm_90a").ends_with("did you mean cuda:90?"));
  CHECK(problem("NVIDIA H100").ends_with("did you mean cuda:90?"));
  CHECK(problem("sm_100").ends_with("did you mean cuda:100?"));
  CHECK(problem("MI300X").ends_with("did you mean hip:gfx942?"));
  CHECK(problem("tpu:1").ends_with("valid: cuda:80, cuda:90, cuda:100, hip:gfx942, hip:gfx950"));
}

}  // namespace assay::tools
