// The documents that agents and IDEs can read by URI. They add convenience only: many clients have
// no resources, so tools answer the same texts.
//
//   ResourceList list = make_resources(services, guides);
//   for (mcp::ResourceTemplate& one : list.templates) server.add_template(std::move(one));
//
// The services must outlive the resources. A `read` runs on many threads at once.
#pragma once

#include <vector>

#include "operators/guides.h"
#include "server/mcp/core/resource.h"
#include "tools/model/services.h"

namespace assay::tools {

struct ResourceList {
  std::vector<mcp::ResourceTemplate> templates;
  std::vector<mcp::Resource> resources;  // the members of a template that a client can list
};

ResourceList make_resources(const Services& services, const std::vector<operators::Guide>& guides);

}  // namespace assay::tools
