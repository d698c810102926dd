#include "server/bench/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "base/units.h"
#include "server/app/option_groups.h"
#include "tools/model/tracks.h"

namespace assay::bench {
namespace {

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
    at = end + 1;
  }
  return names;
}

Result<std::string> checked_list(const BenchOptions& options, const operators::Catalog* catalog) {
  std::string suite;
  for (const std::string& name : comma_separated(options.operators)) {
    if (catalog != nullptr) {
      const operators::Operator* found = catalog->find(name);
      if (found == nullptr) return fail(catalog->unknown(name));
      if (!options.split.empty() && operators::to_string(found->split) != options.split) {
        return fail(ErrorCode::invalid_argument,
                    "operator '" + name + "' is in split " +
                        std::string(operators::to_string(found->split)) + ", not in " +
                        options.split);
      }
    }
    suite += (suite.empty() ? "" : ",") + name;
  }
  if (suite.empty())
    return fail(
        ErrorCode::invalid_argument,
        "--operators names no operator; valid: a comma-separated list, e.g. vector_add,gelu_tanh");
  return suite;
}

}  // namespace

Status check_options(const BenchOptions& options) {
  if (Status ok = sandbox::check_device_option(options.device); !ok)
    return fail(ErrorCode::not_found, ok.error().message);
  if (!options.track.empty() && !tools::track_from(options.track))
    return fail(ErrorCode::not_found,
                "unknown track '" + options.track + "'; valid: " + tools::track_names());
  if (options.samples < 1 || options.samples > kMostBenchSamples) {
    return fail(ErrorCode::invalid_argument,
                "--samples must be from 1 to " + std::to_string(kMostBenchSamples));
  }
  if (options.jobs < 1 || options.jobs > kMostBenchJobs)
    return fail(ErrorCode::invalid_argument,
                "--jobs must be from 1 to " + std::to_string(kMostBenchJobs));
  for (const std::string& text : options.prices) {
    if (const auto price = price_from(text); !price) return fail(price.error());
  }
  if (options.max_cost_usd && !(*options.max_cost_usd > 0))
    return fail(ErrorCode::invalid_argument, "--max-cost must be a positive amount of US dollars");
  if (const auto isolation = server::isolation_from(options.sandbox.isolation); !isolation)
    return fail(isolation.error());
  if (options.max_time.empty()) return {};
  const auto seconds = duration_from(options.max_time);
  return seconds ? Status()
                 : fail(ErrorCode::invalid_argument, "--max-time: " + seconds.error().message);
}

Result<std::string> suite_of(const BenchOptions& options, const operators::Catalog* catalog,
                             const std::vector<std::string>& answerable) {
  const bool known_split = options.split.empty() || options.split == "standard" ||
                           options.split == "ood" || options.split == "dsl";
  if (!known_split)
    return fail(ErrorCode::not_found,
                "unknown split '" + options.split + "'; valid: standard, ood, dsl");
  if (!options.operators.empty()) return checked_list(options, catalog);
  std::string chosen;
  for (const std::string& name : answerable) {
    const operators::Operator* found = catalog == nullptr ? nullptr : catalog->find(name);
    const bool wanted = found != nullptr && (options.split.empty() ||
                                             operators::to_string(found->split) == options.split);
    if (wanted) chosen += (chosen.empty() ? "" : ",") + name;
  }
  if (!chosen.empty()) return chosen;
  if (!answerable.empty())
    return fail(ErrorCode::not_found,
                "the split '" + options.split + "' has no operator that can be answered");
  return options.split.empty() ? "all" : options.split;
}

Result<GivenPrice> price_from(const std::string& text) {
  constexpr double kMostUsd = 1e6;  // for a million tokens
  const std::size_t equals = text.rfind('=');
  GivenPrice given;
  std::string_view numbers = text;
  if (equals != std::string::npos) {
    given.model = text.substr(0, equals);
    numbers.remove_prefix(equals + 1);
  }
  const std::size_t comma = numbers.find(',');
  const auto number = [&](std::string_view digits) -> std::optional<double> {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool valid = error == std::errc() && end == digits.data() + digits.size() && value >= 0 &&
                       value <= kMostUsd;
    return valid ? std::optional(value) : std::nullopt;
  };
  const std::optional<double> input = number(numbers.substr(0, comma));
  const std::optional<double> output =
      comma == std::string_view::npos ? std::nullopt : number(numbers.substr(comma + 1));
  if (!input || !output || (equals != std::string::npos && given.model.empty()))
    return fail(ErrorCode::invalid_argument,
                "--price " + text +
                    " is not IN,OUT or PROVIDER:NAME=IN,OUT: US dollars per million tokens of "
                    "prompts and of replies, e.g. 2,10, or 0,0 for a model that costs nothing");
  given.price.input_usd_per_million = *input;
  given.price.output_usd_per_million = *output;
  given.price.source = "--price";
  return given;
}

Result<std::int64_t> duration_from(const std::string& text) {
  ASSAY_TRY(seconds, seconds_from(text));
  if (seconds > kMostBenchSeconds)
    return fail(ErrorCode::invalid_argument, "'" + text + "' is too long; valid: up to " +
                                                 seconds_text(kMostBenchSeconds) +
                                                 ", e.g. 90, 15m, 1h30m");
  return seconds;
}

std::filesystem::path bench_directory(const BenchOptions& options, const std::string& agent,
                                      const std::string& model) {
  const bool several = options.agents.size() * options.models.size() > 1;
  if (!options.out.empty() && !several) return options.out;
  std::string name = agent + "_" + model;
  for (char& character : name) {
    if (std::isalnum(static_cast<unsigned char>(character)) == 0 && character != '.' &&
        character != '-')
      character = '_';
  }
  return std::filesystem::path(options.out.empty() ? "bench-out" : options.out) / name;
}

Result<std::filesystem::path> replay_directory(const BenchOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path recorded = fs::weakly_canonical(fs::absolute(options.replay), error);
  if (error)
    return fail(ErrorCode::io, "cannot resolve " + options.replay + ": " + error.message());
  // If the path ends with a slash, its last part is empty. Then the folder is the path without this
  // part.
  if (recorded.filename().empty()) recorded = recorded.parent_path();
  const fs::path out =
      options.out.empty() ? fs::path(recorded.string() + ".replay") : fs::path(options.out);
  const fs::path resolved = fs::weakly_canonical(fs::absolute(out), error);
  if (error) return fail(ErrorCode::io, "cannot resolve " + out.string() + ": " + error.message());
  const auto holds = [](const fs::path& outer, const fs::path& inner) {
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
           outer.end();
  };
  if (holds(recorded, resolved) || holds(resolved, recorded)) {
    return fail(
        ErrorCode::invalid_argument,
        "--out " + out.string() +
            " lies in the bench that --replay reads, or contains it; name another directory");
  }
  return out;
}

}  // namespace assay::bench
