#include "sandbox/sanitize/xml_tree.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("elements become a tree with their text") {
  const Result<XmlElement> root =
      read_xml("<?xml version=\"1.0\"?><a>\n  <b x=\"1\">1 &lt; 2</b><b>3</b></a>");
  REQUIRE(root);
  CHECK(root->name == "a");
  REQUIRE(root->children.size() == 2);
  CHECK(root->child("b")->text == "1 < 2");
  CHECK(root->child("c") == nullptr);
}

TEST_CASE("a document that is not whole, or that could grow, is refused") {
  for (const char* text : {"", "<a>", "<a></b>", "<a/><b/>", "text", "<a>&unknown;</a>",
                           "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<!DOCTYPE a><a/>"}) {
    INFO(text);
    const Result<XmlElement> root = read_xml(text);
    REQUIRE_FALSE(root);
    CHECK(root.error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("depth, number of elements and length of a text are bounded") {
  std::string deep, closed;
  for (std::size_t i = 0; i < kMaxXmlDepth; ++i) {
    deep += "<a>";
    closed += "</a>";
  }
  CHECK(read_xml(deep + closed));
  CHECK_FALSE(read_xml("<a>" + deep + closed + "</a>"));
  std::string many = "<a>";
  for (std::size_t i = 0; i < kMaxXmlElements; ++i) many += "<b/>";
  CHECK_FALSE(read_xml(many + "</a>"));
  const Result<XmlElement> wordy =
      read_xml("<a>" + std::string(kMaxXmlTextBytes * 3, 'x') + "</a>");
  REQUIRE(wordy);
  CHECK(wordy->text.size() == kMaxXmlTextBytes);
}
