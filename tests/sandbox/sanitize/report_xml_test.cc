#include "sandbox/sanitize/report_xml.h"

#include <cstddef>
#include <string>

#include "tests/catch.h"
#include "tests/sandbox/sanitize/report_samples.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

constexpr const char* kSource = "one\n  two\n\tthree(x[i + 1])  \nfour";

Result<std::vector<SanitizerFinding>> read(const std::string& records,
                                           SanitizerTool tool = SanitizerTool::memcheck) {
  return read_sanitizer_report(report_of(records), tool, kSource);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a stray access has the line of the submission, the address, the thread and the block") {
  const auto findings = read(kStrayRead);
  REQUIRE(findings);
  REQUIRE(findings->size() == 1);
  const SanitizerFinding& one = findings->front();
  CHECK(one.text == "Invalid __global__ read of size 4 bytes: Access is out of bounds");
  CHECK(one.address == "0x7f65dc000fa0");
  CHECK(one.thread == std::vector<std::int64_t>{1, 2, 3});
  CHECK(one.block == std::vector<std::int64_t>{4, 5, 6});
  REQUIRE(one.places.size() == 1);  // the host's stack is not reported
  CHECK(one.places[0].kernel == "add_kernel");
  CHECK(one.places[0].file.empty());
  CHECK(one.places[0].line == 3);
  CHECK(one.places[0].code == "three(x[i + 1])");
}

TEST_CASE("a race has both places") {
  const auto findings = read(kSharedRace, SanitizerTool::racecheck);
  REQUIRE(findings);
  REQUIRE(findings->size() == 1);
  const SanitizerFinding& one = findings->front();
  CHECK(one.tool == SanitizerTool::racecheck);
  CHECK(one.address.empty());
  CHECK(one.thread.empty());
  REQUIRE(one.places.size() == 2);
  CHECK(one.places[0].code == "two");
  CHECK(one.places[1].code == "three(x[i + 1])");
}

TEST_CASE("a place in a library has the end of its path and no text") {
  const auto findings = read(kUnwritten, SanitizerTool::initcheck);
  REQUIRE(findings);
  REQUIRE(findings->size() == 1);
  CHECK(findings->front().address == "0x7f3c7ec000fc");
  REQUIRE(findings->front().places.size() == 1);
  CHECK(findings->front().places[0].file == "language/standard.py");
  CHECK(findings->front().places[0].code.empty());
}

TEST_CASE("a binary without lines gives the kernel alone") {
  const auto findings = read(kDivergentBarrier, SanitizerTool::synccheck);
  REQUIRE(findings);
  REQUIRE(findings->size() == 1);
  CHECK(findings->front().places[0].kernel == "sum_kernel");
  CHECK(findings->front().places[0].line == 0);
}

TEST_CASE("a report without records is clean") {
  for (const char* text :
       {"<ComputeSanitizerOutput/>", "<ComputeSanitizerOutput>\n</ComputeSanitizerOutput>"}) {
    const auto findings = read_sanitizer_report(text, SanitizerTool::memcheck, "");
    REQUIRE(findings);
    CHECK(findings->empty());
  }
}

TEST_CASE("warnings and failed calls of the driver are no findings") {
  for (const char* level : {"Warning", "Info"}) {
    const auto findings =
        read(replaced(kSharedRace, "<level>Error", std::string("<level>") + level),
             SanitizerTool::racecheck);
    REQUIRE(findings);
    CHECK(findings->empty());
  }
  const auto api = read(replaced(kStrayRead, "<kind>Precise", "<kind>Api"));
  REQUIRE(api);
  CHECK(api->empty());
}

TEST_CASE("a record of an unknown kind or level is an error, whatever its text says") {
  for (const std::string& record : {replaced(kStrayRead, "<kind>Precise", "<kind>Future"),
                                    replaced(kStrayRead, "<level>Error", "<level>Dire"),
                                    replaced(kStrayRead, "<kind>Precise</kind>", "")}) {
    const auto findings = read(record);
    REQUIRE_FALSE(findings);
    CHECK(findings.error().code == ErrorCode::corrupt);
  }
  const auto own = read(replaced(kStrayRead, "<kind>Precise", "<kind>Sanitizer"));
  REQUIRE_FALSE(own);
  CHECK(own.error().code == ErrorCode::unavailable);
}

TEST_CASE("names that the submission chooses decide nothing") {
  // The name of the kernel contains the tags of another record.
  const std::string name = "k&lt;/func&gt;&lt;record&gt;&lt;kind&gt;Api&lt;/kind&gt;";
  const auto findings = read(replaced(kStrayRead, "add_kernel(float*, float*)", name));
  REQUIRE(findings);
  REQUIRE(findings->size() == 1);
  CHECK(findings->front().places[0].kernel == "k</func><record><kind>Api</kind>");
  // The next two reports name lines that the submission does not have. The first number is also too
  // large for an integer.
  const auto far = read(replaced(kStrayRead, "<line>3", "<line>99999999999999999999"));
  REQUIRE(far);
  CHECK(far->front().places[0].line == 0);
  const auto after = read(replaced(kStrayRead, "<line>3", "<line>9"));
  REQUIRE(after);
  CHECK(after->front().places[0].code.empty());
  const auto long_name = read(replaced(kStrayRead, "add_kernel", std::string(5'000, 'k')));
  REQUIRE(long_name);
  CHECK(long_name->front().places[0].kernel.size() <= 200);
}

TEST_CASE("a report that is cut short is an error") {
  const std::string whole = report_of(kStrayRead);
  for (std::size_t size = 0; size + 2 < whole.size(); ++size)
    CHECK_FALSE(read_sanitizer_report(std::string_view(whole).substr(0, size),
                                      SanitizerTool::memcheck, kSource));
  CHECK_FALSE(read_sanitizer_report("<other/>", SanitizerTool::memcheck, kSource));
}
