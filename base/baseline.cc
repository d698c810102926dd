#include "base/baseline.h"

namespace assay {

std::string_view to_string(Baseline baseline) {
  switch (baseline) {
    case Baseline::oracle: return "oracle";
    case Baseline::torch_eager: return "torch_eager";
  }
  return "oracle";
}

std::optional<Baseline> baseline_from(std::string_view name) {
  for (const Baseline baseline : kBaselines) {
    if (name == to_string(baseline)) return baseline;
  }
  return std::nullopt;
}

std::string_view title_of(Baseline baseline) {
  switch (baseline) {
    case Baseline::oracle: return "oracle";
    case Baseline::torch_eager: return "PyTorch eager";
  }
  return "oracle";
}

std::string over_text(std::optional<Baseline> baseline) {
  if (!baseline || *baseline == Baseline::oracle) return "";
  return " over " + std::string(title_of(*baseline));
}

}  // namespace assay
