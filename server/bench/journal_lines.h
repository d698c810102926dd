// The lines of a bench's journal as JSON (bench_journal.h shows them), written and read. Pure
// functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "reference_agents/core/attempt.h"
#include "reference_agents/core/run.h"
#include "server/bench/journal.h"

namespace assay::server {

nlohmann::json identity_line(const BenchIdentity& identity);
nlohmann::json run_line(std::int64_t sample, const agents::RunHandle& run);
nlohmann::json finished_line(std::int64_t sample, const std::string& operator_name,
                             const agents::Attempt& attempt, double wall_ms,
                             const std::string& replay);

/// "model is 'a' there and 'b' here", of two identity lines; empty when both describe the same
/// bench.
std::string identity_difference(const nlohmann::json& there, const nlohmann::json& here);

/// Adds what a line says; throws what the JSON library throws when a field is missing or of another
/// type. Lines of unknown kinds say nothing.
void read_journal_line(const nlohmann::json& line, JournalContent& content);

}  // namespace assay::server
