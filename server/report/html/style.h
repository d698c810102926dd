// The style sheet of a report's page. Paper is black on white, whatever the screen is.
#pragma once

#include <string_view>

namespace assay::server {

std::string_view report_style();

}  // namespace assay::server
