#include "base/suite_id.h"

#include "tests/catch.h"

using namespace assay;

TEST_CASE("the text of a suite has its name, its version and the start of its digest") {
  CHECK(text_of({"assay", "1", "0123456789abcdef"}) == "assay 1 (digest 0123456789ab)");
  CHECK(text_of({"mine", "", "0123456789abcdef"}) == "mine (digest 0123456789ab)");
  CHECK(text_of(without_digest({"mine", "2", "0123456789abcdef"})) == "mine 2");
  CHECK(text_of({}) == "unknown");
  CHECK(text_of({"a\nnext: b", "1\x1b", "c\nd"}) == "a next: b 1\\x1b (digest c d)");
}

TEST_CASE("suites are told apart by their digests") {
  const SuiteId one{"assay", "1", "aa"}, other{"assay", "1", "bb"};
  CHECK_FALSE(have_several_digests({}));
  CHECK_FALSE(have_several_digests({one, one}));
  CHECK(have_several_digests({one, other}));
  CHECK(have_several_digests({one, {}}));
}
