// Parts that several messages share. Used by messages_*.cc only.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/pool/header_reader.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

inline constexpr std::int64_t kHighestInteger = std::numeric_limits<std::int64_t>::max();
inline constexpr std::size_t kMaxArguments = 256;
inline constexpr std::size_t kMaxRank = 16;
inline constexpr std::size_t kMaxKernels = 4'096;
inline constexpr std::size_t kMaxLayers = 256;
inline constexpr std::size_t kMaxSamples = 1'000'000;

std::vector<Layer> read_layers(HeaderReader& in);
Versions read_versions(HeaderReader& in);
std::vector<Argument> read_arguments(HeaderReader& in, const char* name);
/// Kernels of a candidate (`launcher` false) or of the launcher.
std::vector<KernelReport> read_kernels(HeaderReader& in, bool launcher);
/// Nothing when there are no samples.
std::optional<Timing> read_timing(HeaderReader& in);
nlohmann::json to_json(const Argument& argument);
nlohmann::json to_json(const std::vector<Argument>& arguments);

/// An error unless the frame has this type.
Status expect_type(const Frame& frame, const char* type);

}  // namespace assay::sandbox
