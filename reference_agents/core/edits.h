// SEARCH/REPLACE edits in a model's reply, and what they make of a source. An edit means whole
// lines, exactly as they are, and must match exactly once: one that matches nothing or several
// places is an error for the model to mend, never skipped or guessed.
//
//   <<<<<<< SEARCH
//       mask = offsets <= n
//   =======
//       mask = offsets < n
//   >>>>>>> REPLACE
//
//   Result<std::vector<Edit>> edits = parse_edits(reply.text);
//   Result<std::string> changed = apply_edits(source, *edits);
//
// Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::agents {

struct Edit {
  std::vector<std::string> search;   // lines; at least one that is not blank
  std::vector<std::string> replace;  // lines; none: the lines found are removed
};

/// In order. invalid_argument, in words for the model, when there is none or one is malformed.
Result<std::vector<Edit>> parse_edits(std::string_view reply);

/// Each edit applies to what those before it left. invalid_argument names the edit and what is
/// wrong with it.
Result<std::string> apply_edits(const std::string& source, const std::vector<Edit>& edits);

}  // namespace assay::agents
