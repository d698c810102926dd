#include "sandbox/profile/listing.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("each line of the source stands beside its instructions") {
  CodeDigest digest;
  digest.kernel = "add";
  digest.target = "cuda:90";
  digest.lines = {{"", 2, "y = x", 7, 3, {{"LDG.128", 2}}},
                  {"language/standard.py", 293, "", 4, 0, {}}};
  const std::string text = annotated_source("a = 1\ny = x", digest);
  CHECK(text.find("    1 |             |") != std::string::npos);
  CHECK(text.find("    2 |     7     3 | LDG.128 x2") != std::string::npos);
  CHECK(text.find("| y = x\n") != std::string::npos);
  CHECK(text.find("language/standard.py:293\n") != std::string::npos);
}

TEST_CASE("a timeline is a table, slowest first") {
  const std::string text = timeline_text({{"fill", false, 1'000}, {"add", true, 9'000}});
  CHECK(text.find("add") < text.find("fill (not the submission's)"));
  CHECK(text.find("   9.00    90 %  add") != std::string::npos);
}
