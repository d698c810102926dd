// Why a value does not conform to a schema, said so that an agent can correct it: the property,
// what it got, what is valid.
//
//   explain(schema, {{"splitt", "ood"}})  ->  {"unknown property 'splitt'; valid: family, split"}
//
// Covers type, enum, const, required, additionalProperties, bounds and lengths, through properties,
// items and local $ref. It finds nothing where only a combination (oneOf, not, ...) fails; the
// caller then has the validator's own words. Pure, thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::mcp {

constexpr std::size_t kMaxProblems = 8;

std::vector<std::string> explain(const nlohmann::json& schema, const nlohmann::json& instance);

}  // namespace assay::mcp
