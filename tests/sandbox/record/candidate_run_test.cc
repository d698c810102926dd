#include "sandbox/record/candidate_run.h"

#include <limits>

#include "tests/catch.h"

namespace assay::sandbox {

TEST_CASE("a line that the source does not have is dropped") {
  const std::string source = "a\nb\r\nc\rd";  // four lines
  CHECK(line_of_source(1, source) == 1);
  CHECK(line_of_source(4, source) == 4);
  CHECK_FALSE(line_of_source(5, source));
  CHECK_FALSE(line_of_source(0, source));
  CHECK_FALSE(line_of_source(-3, source));
  CHECK_FALSE(line_of_source(std::numeric_limits<std::int64_t>::max(), source));
  CHECK_FALSE(line_of_source(std::nullopt, source));
  // A syntax error at the end of a source can refer to the empty line after the last line feed.
  CHECK(line_of_source(2, "a\n") == 2);
  CHECK(line_of_source(1, "") == 1);
}

}  // namespace assay::sandbox
