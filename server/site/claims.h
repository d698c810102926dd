// A claim is what a bundle from outside says about a submission. This file compares a claimed
// verdict with one that was judged here, and writes a bundle's run into a store of its own, from
// which the site's data is written as from any other store.
//
//   const Check check = check_claim(claimed, judged_here);
//   if (check.state == CheckState::disputed) warn(check.note);
//   ASSAY_RETURN_IF_ERROR(write_claimed_store(bundle, folder / "1.db"));
//
// check_claim() is pure. The functions are thread-safe.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/device.h"
#include "sandbox/job/job.h"
#include "server/bundle/run_bundle.h"

namespace assay::site {

enum class CheckState {
  own,       // the verdict is from a store of the one who writes the site
  imported,  // the store has the verdict from a file, and nothing was judged here
  claimed,   // nobody has judged the submission here, or a judgement here could not decide
  verified,  // a judgement here has the same result
  disputed,  // a judgement here contradicts the claim
};
/// Returns "own", "imported", "claimed", "verified" or "disputed".
std::string_view to_string(CheckState state);

struct Check {
  CheckState state = CheckState::claimed;
  std::string note = {};  // a sentence; empty if there is nothing to say
};

/// A claimed Perf is verified if the Perf here is at least this part of it. Times on two machines
/// with the same device differ by a few percent.
inline constexpr double kPerfPart = 0.9;

/// Compares a claimed verdict with the verdict of the same source here. A wrong result here
/// disputes a claimed pass. An error here disputes it only if the error does not depend on the
/// machine. A Perf is verified only if it was timed here on a device of the same name.
Check check_claim(const sandbox::Verdict& claimed, const sandbox::Verdict& here);

/// Adds the result of a replay of launch plans to the check of a submission whose source could not
/// be judged. A wrong result disputes a claimed pass. A right one leaves the claim a claim, because
/// nothing proves that the plans are of the source; the note says it. `cases` is the number of
/// replayed cases.
Check with_replay(const Check& check, const sandbox::Verdict& claimed,
                  const sandbox::Verdict& replayed, std::size_t cases);

/// The checks of the graded submissions of a bundle, by job.
struct JudgedClaims {
  std::map<std::string, Check> checks = {};
  /// What was measured here, for the claims that are verified. All their figures come from here.
  std::map<std::string, sandbox::Verdict> verdicts = {};
};

/// Writes the run of the bundle and its jobs into a new store, with the verdict that was made here
/// or else with the claimed one. Errors: those of server::Store.
Status write_claimed_store(const bundle::RunBundle& bundle, const std::filesystem::path& store,
                           const std::map<std::string, sandbox::Verdict>& verdicts = {});

/// Judges the graded submissions of the bundle again, and returns a check for each. If the source
/// of a submission cannot be judged here, for example because another version of Triton refuses it,
/// and the bundle has launch plans of it for the device, replays these. `catalog` has
/// the operators. It must be the suite of the bundle, with the same digest: otherwise every check
/// only says that the suite is not here. Calls `judged` after each submission; it may be null.
using ClaimJudged = std::function<void(const bundle::BundledJob& job, const Check& check)>;
JudgedClaims judge_claims(const bundle::RunBundle& bundle, const operators::Catalog& catalog,
                          sandbox::Device& device, const sandbox::Limits& limits,
                          const ClaimJudged& judged);

}  // namespace assay::site
