// What is compared when two pieces of kernel source are: runs of five tokens in which names stand
// for themselves only where they mean the same everywhere. A variable is known by its place among
// the run's variables, so renaming changes nothing, nor does where in the file the run is.
// Comments, layout and docstrings are left out; numbers, strings, keywords, `tl`, `torch` and what
// follows a dot (`.load`) are kept.
//
//   code_grams("y = tl.exp(x)\n")  ==  code_grams("b = tl.exp(a)  # shifted\n")
//
// Takes any bytes: what is no Python gives grams of what is there. Pure function.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::operators {

/// Hashes of the runs, ascending, each once. Empty for less than five tokens.
std::vector<std::uint64_t> code_grams(std::string_view code);

}  // namespace assay::operators
