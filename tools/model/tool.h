// What a tool is, and what it needs. A tool is data plus one function. The protocol layer validates
// `arguments` against `input_schema` before `run` sees them and `structured` against
// `output_schema` before a client does. `run` may be called from many threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operators/catalog.h"
#include "operators/search/example_search.h"
#include "tools/model/services.h"

namespace assay::tools {

/// Named limits of the answers, in docs/reference/limits.md.
struct AnswerLimits {
  std::int64_t answer_within_ms = 20'000;  // longer work answers with a job handle
  std::int64_t concise_chars = 4'800;      // 1,500 tokens of 3.2 characters
  std::int64_t detailed_chars = 25'600;    // 8,000 tokens, the most that clients bear
};

struct Services {
  const operators::Catalog& catalog;
  RunService& runs;
  JobService& jobs;
  ArtifactService& artifacts;
  AnswerLimits limits;
  sandbox::Limits job_limits = {};  // of every job that a tool makes
  const operators::ExampleSearch* examples =
      nullptr;  // without it `search_examples` is unavailable
};

/// A picture that goes with an answer.
struct Image {
  std::string bytes;      // as in a file
  std::string mime_type;  // "image/png"
};

/// Both halves are enough alone: clients consume them inconsistently.
struct Answer {
  bool is_error = false;
  std::string text;  // first line: the outcome; then what failed, where, the number, the next step
  nlohmann::json structured;  // an object
  std::vector<Image> images = {};
};

/// `progress(done, total, message)`; total 0 when unknown. Never null.
using Progress = std::function<void(double, double, const std::string&)>;

/// What a caller's token may permit.
constexpr const char* kScopePractice = "practice";  // every tool, runs of the practice track
constexpr const char* kScopeScore = "score";        // runs that count as well

struct CallContext {
  Progress progress;
  std::function<bool()> cancelled;  // never null
  bool patient = false;  // the client asks for the outcome later (a task): the answer may take as
                         // long as the work
  std::function<bool(std::string_view scope)> allows = [](std::string_view) {
    return true;
  };  // never null
};

struct Tool {
  std::string name, title, description;
  nlohmann::json input_schema, output_schema;
  bool read_only = false, destructive = false, idempotent = false, open_world = false;
  bool long_running = false;  // may take seconds to minutes: a client may have it as a task
  std::function<Answer(const nlohmann::json& arguments, const CallContext& context)> run;
};

}  // namespace assay::tools
