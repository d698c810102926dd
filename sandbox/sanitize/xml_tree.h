// Reads a small XML document into a tree. The tree has the elements and their texts, without
// attributes.
//
//   Result<XmlElement> root = read_xml("<a><b>1</b></a>");
//   const XmlElement* b = root->child("b");  // b->text is "1"
//
// The document may be hostile. So a document type declaration is an error, and the size is bounded.
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

inline constexpr std::size_t kMaxXmlDepth = 16;
inline constexpr std::size_t kMaxXmlElements = 1U << 16;
// The maximum number of bytes of an element's text that are kept.
inline constexpr std::size_t kMaxXmlTextBytes = 4'096;

struct XmlElement {
  std::string name;
  std::string text;  // without the text of the children
  std::vector<XmlElement> children;

  /// Returns the first child of this name, or null.
  const XmlElement* child(std::string_view of_name) const;
};

/// Returns the root element. Errors: corrupt if the text is not one whole document, has a document
/// type declaration, or is above a limit.
Result<XmlElement> read_xml(std::string_view text);

}  // namespace assay::sandbox
