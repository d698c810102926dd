#include "base/trace_parent.h"

#include <string>

#include "tests/catch.h"

namespace assay {
namespace {

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";
const std::string kSpan = "b7ad6b7169203331";

}  // namespace

TEST_CASE("trace parent: a valid header is read and written") {
  const auto parsed = TraceParent::parse("00-" + kTrace + "-" + kSpan + "-01");
  REQUIRE(parsed);
  CHECK(parsed->trace_id == kTrace);
  CHECK(parsed->span_id == kSpan);
  CHECK(parsed->sampled);
  CHECK(parsed->text() == "00-" + kTrace + "-" + kSpan + "-01");
  CHECK_FALSE(TraceParent::parse("00-" + kTrace + "-" + kSpan + "-02")->sampled);
  CHECK(TraceParent::parse("01-" + kTrace + "-" + kSpan + "-01-more"));  // a newer version
}

TEST_CASE("trace parent: other texts are refused") {
  const std::string zeros(32, '0');
  for (const std::string& text :
       {std::string(), std::string("00"), "00-" + kTrace + "-" + kSpan,
        "ff-" + kTrace + "-" + kSpan + "-01", "00-" + zeros + "-" + kSpan + "-01",
        "00-" + kTrace + "-" + zeros.substr(16) + "-01", "00-" + kTrace + "-" + kSpan + "-01-more",
        "00-" + kTrace + "-" + kSpan + "-0x", "01-" + kTrace + "-" + kSpan + "-01more",
        "00_" + kTrace + "-" + kSpan + "-01", "00-A" + kTrace.substr(1) + "-" + kSpan + "-01"})
    CHECK_FALSE(TraceParent::parse(text));
}

TEST_CASE("trace parent: a span below another one stays in its trace") {
  const TraceParent root = TraceParent::below(std::nullopt);
  CHECK(root.sampled);
  CHECK(TraceParent::parse(root.text()));
  TraceParent parent = root;
  parent.sampled = false;
  const TraceParent child = TraceParent::below(parent);
  CHECK(child.trace_id == root.trace_id);
  CHECK(child.span_id != root.span_id);
  CHECK_FALSE(child.sampled);
  CHECK(TraceParent::below(std::nullopt).trace_id != root.trace_id);
}

}  // namespace assay
