#include "server/report/html/field.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

TEST_CASE("shares and x stay inside the field") {
  CHECK(field_y(1) == Approx(kFieldTop));
  CHECK(field_y(0) == Approx(kFieldTop + kFieldHeight));
  CHECK(field_y(1.5) == Approx(kFieldTop));
  const FieldAxis axis{1, 3};
  CHECK(axis.place(1) == Approx(kFieldLeft + kFieldInset));
  CHECK(axis.place(3) == Approx(kFieldRight - kFieldInset));
  CHECK(FieldAxis{2, 2}.place(2) == Approx((kFieldLeft + kFieldRight) / 2));
}

TEST_CASE("a grid has five shares and its own ticks, escaped") {
  const std::string grid = field_grid({{100, "<k>"}}, "a & b");
  CHECK(grid.find(">75 %<") != std::string::npos);
  CHECK(grid.find("&lt;k&gt;") != std::string::npos);
  CHECK(grid.find("a &amp; b") != std::string::npos);
}
