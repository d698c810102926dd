#include "sandbox/pool/ncu_words.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("errors come first, and a report is left out") {
  const std::string log =
      "==WARNING== no home\r\n"
      "\n"
      "\"ID\",\"Kernel Name\"\n"
      "ld.so: cannot open libx.so\n"
      "==ERROR== Launching the target application failed.\n"
      "assay-launcher: execv: Permission denied";
  CHECK(ncu_words(log) ==
        "==ERROR== Launching the target application failed. | assay-launcher: execv: Permission "
        "denied | ==WARNING== no home | ld.so: cannot open libx.so");
  CHECK(ncu_words("").empty());
  CHECK(ncu_words("\"a\",\"b\"\n").empty());
}

TEST_CASE("words are bounded, and an error at the end of a long log is among them") {
  std::string log;
  for (int i = 0; i < 10'000; ++i) log += "==PROF== Profiling \"kernel\"\n";
  log += "==ERROR== out of memory\n";
  const std::string words = ncu_words(log);
  CHECK(words.size() == kNcuWordsBytes);
  CHECK(words.starts_with("==ERROR== out of memory | ==PROF=="));
  CHECK(words.ends_with("..."));
}
