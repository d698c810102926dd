// Turns kernel source into grams, which similar code shares: hashes of runs of five tokens. A run
// keeps numbers, strings, keywords, `tl`, `torch` and names after a dot (`.load`). It replaces each
// variable by its number among the run's variables, so neither renaming nor moving code changes a
// gram. Comments, layout and docstrings are left out.
//
//   code_grams("y = tl.exp(x)\n")  ==  code_grams("b = tl.exp(a)  # shifted\n")
//
// Takes any bytes, also bytes that are not Python. A pure function.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::operators {

/// Hashes of the runs, ascending, each once. Empty for fewer than five tokens.
std::vector<std::uint64_t> code_grams(std::string_view code);

}  // namespace assay::operators
