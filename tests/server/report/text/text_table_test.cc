#include "server/report/text/text_table.h"

#include "tests/catch.h"

using namespace assay::server;

TEST_CASE("columns are as wide as their widest cell, in characters") {
  CHECK(text_table({{"a", "bb"}, {"–––", "x"}}) == "a    bb\n---  --\n–––  x\n");
  CHECK(padded("–", 3) == "–  ");
  CHECK(padded("long", 2) == "long");
}
