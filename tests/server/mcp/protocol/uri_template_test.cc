#include "server/mcp/protocol/uri_template.h"

#include "tests/catch.h"

namespace assay::mcp {

TEST_CASE("uri template: reads the values back from an expansion") {
  const auto one = UriTemplate::parse("operator://{name}/spec");
  REQUIRE(one);
  CHECK(one->match("operator://vector_add/spec") == Variables{{"name", "vector_add"}});
  CHECK(one->match("operator://a%2Fb/spec") == Variables{{"name", "a/b"}});
  CHECK(one->match("operator://a%2fb%20/spec") == Variables{{"name", "a/b "}});
  const auto two = UriTemplate::parse("case://{operator}/{index}");
  REQUIRE(two);
  CHECK(two->match("case://softmax/3") == Variables{{"operator", "softmax"}, {"index", "3"}});
  CHECK(two->variables() == std::vector<std::string>{"operator", "index"});
}

TEST_CASE("uri template: a URI that is no expansion does not match") {
  const auto spec = UriTemplate::parse("operator://{name}/spec");
  REQUIRE(spec);
  for (const char* uri :
       {"", "operator://", "operator:///spec", "operator://a/b/spec", "operator://a/specs",
        "operator://a/spec/", "operator://a", "xoperator://a/spec", "operator://a%/spec",
        "operator://a%4/spec", "operator://a%zz/spec", "operator://a b/spec",
        "operator://\xc3\xa9/spec", "OPERATOR://a/spec"}) {
    INFO(uri);
    CHECK_FALSE(spec->match(uri));
  }
}

TEST_CASE("uri template: ambiguous templates and those beyond level 1 are refused") {
  for (const char* text : {"t://plain", "t://{a", "t://a}", "t://{}", "t://{a}{b}", "t://{a}-{b}",
                           "t://{a}b", "t://{+a}", "t://{a,b}", "t://{a*}", "t://{a}/{a}"}) {
    INFO(text);
    const auto parsed = UriTemplate::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find(text) != std::string::npos);
  }
}

}  // namespace assay::mcp
