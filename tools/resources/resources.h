// What agents and IDEs may read by URI, independent of the protocol that carries it. Tools stay the
// main road: many clients have no resources. Each text is what a tool answers or a file of the
// catalog, never a rendering of its own. resources.cc has THE list.
//
//   for (const ResourceFamily& family : make_resources(services, guides)) family.read({{"name",
//   "vector_add"}});
//
// `read` may be called from many threads at once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/guides.h"
#include "tools/model/tool.h"

namespace assay::tools {

/// Values by the name of their variable.
using Values = std::map<std::string, std::string>;

/// What fits a value: all of them; `others` are those that are known already.
using Suggest = std::function<std::vector<std::string>(const Values& others)>;

/// One member of a family that a client may list.
struct ListedResource {
  Values values;
  std::string name, title, description;
};

/// Resources that differ in the variables of their URI alone.
struct ResourceFamily {
  std::string uri_template;  // "operator://{name}/spec"; RFC 6570, level 1
  std::string name, title, description, mime_type;
  bool constant = false;  // the same for every caller for as long as the server runs
  std::map<std::string, Suggest> suggest;
  std::vector<ListedResource> listed;  // empty: unguessable handles, or too many
  std::function<Result<std::string>(const Values& values)> read;
};

std::vector<ResourceFamily> make_resources(Services& services,
                                           const std::vector<operators::Guide>& guides);

}  // namespace assay::tools
