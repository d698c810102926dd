// Makes the OpenAPI 3.1 document of the HTTP interface /v1 from the schemas that the server checks
// requests against (api_schema.h). Pure function, thread-safe.
//
//   const nlohmann::json document = openapi_document();  // GET /v1/openapi.json
#pragma once

#include "base/json.h"

namespace assay::server {

nlohmann::json openapi_document();

}  // namespace assay::server
