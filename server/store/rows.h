// Binds values to statements and reads the JSON columns. Only server/store includes this header.
#pragma once

#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::server {

inline void bind_one(SQLite::Statement& statement, int index, const std::string& value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, std::int64_t value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, double value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, const std::optional<double>& value) {
  if (value)
    statement.bind(index, *value);
  else
    statement.bind(index);
}

/// Binds in order, from 1.
template <class... Values>
void bind_all(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bind_one(statement, ++index, values), ...);
}

/// Parses the `document` column of verdicts. Error: `corrupt`, naming the job.
Result<sandbox::Verdict> verdict_of(const std::string& document, const std::string& job);

}  // namespace assay::server
