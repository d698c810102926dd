// Splits a line of comma-separated values. The tools that read hardware counters write such lines.
//
//   std::vector<std::string> cells = csv_cells("7,\"f(int, int)\",0.5");  // 3 cells
//
// A pure function. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

/// The maximum number of cells of a line. The cells behind it are left out.
inline constexpr std::size_t kMaxCsvCells = 512;

/// Returns the cells without their quotes. A pair of quotes inside of quotes is one quote.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace assay::sandbox
