#include "reference_agents/llm/sim.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "reference_agents/agent/code_block.h"
#include "reference_agents/agent/draws.h"
#include "reference_agents/llm/named_operator.h"
#include "reference_agents/llm/sim_mutations.h"

namespace assay::agents {
namespace {

constexpr std::string_view kVerdictMark = "\nVerdict: ";
constexpr std::string_view kProseMark = "Answer without code";
constexpr std::string_view kEditMark = "<<<<<<< SEARCH";

enum class Heard { nothing, failure, success };

/// What the newest message tells of the last answer.
Heard heard_in(const CompletionRequest& request) {
  const std::string text = request.messages.empty() ? "" : "\n" + request.messages.back().text;
  const std::size_t at = text.rfind(kVerdictMark);
  if (at == std::string::npos) return Heard::nothing;
  return text.compare(at + kVerdictMark.size(), 4, "pass") == 0 ? Heard::success : Heard::failure;
}

Flaw draw_flaw(Heard heard, const NumberValues& odds, Draws& draws) {
  const double chance = draws.uniform();
  const double repaired = draws.uniform();
  const double broken = odds.at("compile_error");
  const double wrong = odds.at("wrong");
  const double slow = odds.at("slow");
  if (heard == Heard::failure) {
    if (repaired < odds.at("repair")) return chance < slow ? Flaw::slow : Flaw::none;
    return chance * (broken + wrong) < broken ? Flaw::does_not_compile : Flaw::wrong;
  }
  if (heard == Heard::success && repaired < odds.at("repair")) return Flaw::none;
  if (chance < broken) return Flaw::does_not_compile;
  if (chance < broken + wrong) return Flaw::wrong;
  return chance < broken + wrong + slow ? Flaw::slow : Flaw::none;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += lines[i] + "\n";
  return text;
}

/// One edit that turns `before` into `after`: what differs, with as much around it as makes it unique.
std::string edit_text(const std::string& before, const std::string& after) {
  const std::vector<std::string> old_lines = lines_of(before);
  const std::vector<std::string> new_lines = lines_of(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head && old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) ++tail;
  const auto unique = [&] {
    const std::string text = joined(old_lines, head, old_lines.size() - tail);
    const std::size_t at = before.find(text);
    return !text.empty() && at != std::string::npos && before.find(text, at + 1) == std::string::npos;
  };
  while (!unique() && (head > 0 || tail > 0)) {
    if (head > 0) --head;
    if (tail > 0) --tail;
  }
  return std::string(kEditMark) + "\n" + joined(old_lines, head, old_lines.size() - tail) + "=======\n" +
         joined(new_lines, head, new_lines.size() - tail) + ">>>>>>> REPLACE\n";
}

bool asks_for_edits(const CompletionRequest& request) {
  return !request.messages.empty() && request.messages.back().text.find(kEditMark) != std::string::npos;
}

}  // namespace

const std::vector<NumberOption>& sim_options() {
  static const std::vector<NumberOption> list = {
      {"compile_error", 0.25, 0, 1, "share of first answers that do not compile"},
      {"wrong", 0.3, 0, 1, "share that is wrong"},
      {"slow", 0.2, 0, 1, "share that is right and slow"},
      {"repair", 0.6, 0, 1, "how often an answer to a verdict is better than it"},
      {"bad_edit", 0.1, 0, 1, "share of edits that match nothing"},
  };
  return list;
}

Result<std::unique_ptr<SimClient>> SimClient::make(const std::string& name, const std::filesystem::path& operators_dir) {
  Result<NamedOptions> named = parse_options(name, sim_options());
  if (!named) return fail(named.error());
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(named->name.data(), named->name.data() + named->name.size(), seed);
  if (error != std::errc{} || end != named->name.data() + named->name.size()) {
    return fail(ErrorCode::invalid_argument, "'sim:" + name + "': the seed is no number; valid: sim:SEED or sim:SEED?key=value&..., e.g. sim:7?wrong=0.3");
  }
  NumberValues& odds = named->values;
  if (odds["compile_error"] + odds["wrong"] + odds["slow"] > 1) {
    return fail(ErrorCode::invalid_argument, "'sim:" + name + "': compile_error, wrong and slow are shares of one whole; together they are above 1");
  }
  std::unique_ptr<SimClient> client(new SimClient(name, seed, odds));
  std::error_code broken;
  for (std::filesystem::recursive_directory_iterator it(operators_dir, broken), last; !broken && it != last; it.increment(broken)) {
    if (it->path().filename() == "oracle.py") client->oracles_[it->path().parent_path().filename().string()] = it->path();
  }
  if (broken) return fail(ErrorCode::not_found, "sim: " + operators_dir.string() + ": " + broken.message());
  return client;
}

std::vector<std::string> SimClient::known_operators() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : oracles_) names.push_back(name);
  return names;
}

Result<CompletionReply> SimClient::complete(const CompletionRequest& request) {
  const std::string name = named_operator(request);
  if (name.empty()) return fail(ErrorCode::not_found, "sim: the prompt names no operator; it needs a line 'Operator: NAME'");
  const auto file = oracles_.find(name);
  if (file == oracles_.end()) return fail(ErrorCode::not_found, "sim: there is no oracle of operator '" + name + "' in this source tree");
  std::ifstream stream(file->second, std::ios::binary);
  if (!stream) return fail_errno("open " + file->second.string());
  const std::string oracle{std::istreambuf_iterator<char>(stream), {}};

  CompletionReply reply;
  reply.stop_reason = "end_of_simulation";
  reply.usage_known = true;
  const std::string& newest = request.messages.back().text;
  if (newest.find(kProseMark) != std::string::npos) {
    reply.text = "The verdict names the place: look at the operators, the masks and the launch there.\n";
    return reply;
  }
  Draws draws(seed_, name + "\n" + request.attempt + "\n" + std::to_string(request.turn));
  const Flaw flaw = draw_flaw(heard_in(request), odds_, draws);
  const bool bad_edit = draws.uniform() < odds_.at("bad_edit");
  const std::string code = mutate(oracle, flaw, draws.next());
  const std::string current = asks_for_edits(request) ? extract_code(newest, name) : "";
  if (current.empty()) {
    reply.text = "A simulated answer.\n\n```python\n" + code + "```\n";
  } else if (bad_edit) {
    reply.text = "A simulated edit.\n\n" + std::string(kEditMark) + "\nthis line is nowhere in the code\n=======\npass\n>>>>>>> REPLACE\n";
  } else if (current == code) {
    reply.text = "There is nothing that I would change.\n";
  } else {
    reply.text = "A simulated edit.\n\n" + edit_text(current, code);
  }
  return reply;
}

}  // namespace assay::agents
