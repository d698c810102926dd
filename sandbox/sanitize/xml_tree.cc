#include "sandbox/sanitize/xml_tree.h"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::size_t kMaxXmlBytes = 64U << 20;  // expat counts bytes in an int

/// The tree that the callbacks of expat build.
struct Building {
  XML_Parser parser = nullptr;
  std::vector<XmlElement> open;  // from the root to the present element
  XmlElement root;
  std::size_t elements = 0;
  const char* problem = nullptr;

  void stop(const char* why) {
    problem = why;
    XML_StopParser(parser, XML_FALSE);
  }
};

void begin_element(void* data, const char* name, const char** /*attributes*/) {
  auto& building = *static_cast<Building*>(data);
  if (building.open.size() >= kMaxXmlDepth) return building.stop("nested too deeply");
  if (++building.elements > kMaxXmlElements) return building.stop("too many elements");
  building.open.push_back({.name = name, .text = {}, .children = {}});
}

void end_element(void* data, const char* /*name*/) {
  auto& building = *static_cast<Building*>(data);
  if (building.problem != nullptr) return;
  XmlElement done = std::move(building.open.back());
  building.open.pop_back();
  if (building.open.empty())
    building.root = std::move(done);
  else
    building.open.back().children.push_back(std::move(done));
}

void add_text(void* data, const char* text, int size) {
  auto& building = *static_cast<Building*>(data);
  if (building.problem != nullptr || building.open.empty()) return;
  std::string& kept = building.open.back().text;
  kept.append(text, std::min(static_cast<std::size_t>(size), kMaxXmlTextBytes - kept.size()));
}

void refuse_doctype(void* data, const char*, const char*, const char*, int) {
  static_cast<Building*>(data)->stop("a document type declaration");
}

}  // namespace

const XmlElement* XmlElement::child(std::string_view of_name) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const XmlElement& one) { return one.name == of_name; });
  return found == children.end() ? nullptr : &*found;
}

Result<XmlElement> read_xml(std::string_view text) {
  if (text.size() > kMaxXmlBytes) return fail(ErrorCode::corrupt, "XML: too long");
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) return fail(ErrorCode::internal, "XML: no memory for a parser");
  Building building;
  building.parser = parser.get();
  XML_SetUserData(parser.get(), &building);
  XML_SetElementHandler(parser.get(), begin_element, end_element);
  XML_SetCharacterDataHandler(parser.get(), add_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), refuse_doctype);
  if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) !=
      XML_STATUS_OK)
    return fail(
        ErrorCode::corrupt,
        "XML: line " + std::to_string(XML_GetCurrentLineNumber(parser.get())) + ": " +
            (building.problem != nullptr ? building.problem
                                         : XML_ErrorString(XML_GetErrorCode(parser.get()))));
  return std::move(building.root);
}

}  // namespace assay::sandbox
