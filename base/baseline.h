// Baseline says with what Perf compares a submission: Perf is the baseline's latency divided by the
// submission's latency. Values of Perf with different baselines must not be averaged or ranked
// together. Pure functions, thread-safe.
//
//   std::optional<Baseline> baseline = baseline_from("torch_eager");
//   std::string text = std::string(title_of(*baseline)) + " latency / yours";
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

enum class Baseline {
  oracle,       // the operator's hand-tuned kernel, oracle.py
  torch_eager,  // the operator's reference, run by PyTorch on the GPU; the operator has no oracle
};
inline constexpr std::array kBaselines{Baseline::oracle, Baseline::torch_eager};

/// Returns the name in spec.toml, in verdicts and in reports: "oracle" or "torch_eager".
std::string_view to_string(Baseline baseline);
std::optional<Baseline> baseline_from(std::string_view name);

/// Returns the name for people: "oracle" or "PyTorch eager".
std::string_view title_of(Baseline baseline);

/// Returns " over PyTorch eager" for a Perf of this baseline. Returns "" for the oracle, which is
/// what readers expect.
std::string over_text(std::optional<Baseline> baseline);

}  // namespace assay
