#include "base/iso_time.h"

#include "tests/catch.h"

namespace assay {

TEST_CASE("iso time") {
  CHECK(iso_time(0) == "1970-01-01T00:00:00.000Z");
  CHECK(iso_time(1'764'316'800'123) == "2025-11-28T08:00:00.123Z");
}

}  // namespace assay
