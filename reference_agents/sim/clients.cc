#include "reference_agents/sim/clients.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text_edits.h"
#include "reference_agents/core/reply_code.h"
#include "reference_agents/core/seeded_rng.h"
#include "reference_agents/sim/sim_landscape.h"

namespace assay::agents {
namespace {

constexpr std::string_view kVerdictMark = "\nVerdict: ";
constexpr std::string_view kProseMark = "Answer without code";
constexpr std::string_view kReflectionMark = "What a colleague found: ";
constexpr double kSlowFactor = 0.3;
constexpr std::string_view kOracle = "oracle.py";
// The file of an operator that was imported from a benchmark of classes, and has no oracle. The
// answer is then the benchmark's own class, which computes with torch, so no answer passes.
constexpr std::string_view kProblem = "problem.py";
constexpr std::string_view kSameClass = "\n\nclass ModelNew(Model):\n    pass\n";

enum class Heard { nothing, failure, success };

/// Returns the verdict on the simulated model's last answer: `success` or `failure`. The verdict is
/// in the newest message. Returns `nothing` if this message has no verdict.
Heard heard_in(const CompletionRequest& request) {
  const std::string text = request.messages.empty() ? "" : "\n" + request.messages.back().text;
  const std::size_t at = text.rfind(kVerdictMark);
  if (at == std::string::npos) return Heard::nothing;
  return text.compare(at + kVerdictMark.size(), 4, "pass") == 0 ? Heard::success : Heard::failure;
}

Flaw draw_flaw(Heard heard, double repair, const NumberValues& odds, SeededRng& draws) {
  const double chance = draws.uniform();
  const double repaired = draws.uniform();
  const double broken = odds.at("compile_error");
  const double wrong = odds.at("wrong");
  const double slow = odds.at("slow");
  if (heard == Heard::failure) {
    if (repaired < repair) return chance < slow ? Flaw::slow : Flaw::none;
    return chance * (broken + wrong) < broken ? Flaw::does_not_compile : Flaw::wrong;
  }
  if (heard == Heard::success && repaired < repair) return Flaw::none;
  if (chance < broken) return Flaw::does_not_compile;
  if (chance < broken + wrong) return Flaw::wrong;
  return chance < broken + wrong + slow ? Flaw::slow : Flaw::none;
}

bool asks_for_edits(const CompletionRequest& request) {
  return !request.messages.empty() &&
         request.messages.back().text.find(kEditMark) != std::string::npos;
}

}  // namespace

const std::vector<NumberOption>& sim_options() {
  static const std::vector<NumberOption> list = {
      {"compile_error", 0.25, 0, 1, "share of first answers that do not compile"},
      {"wrong", 0.3, 0, 1, "share of first answers that are wrong"},
      {"slow", 0.2, 0, 1, "share of first answers that are right and slow"},
      {"repair", 0.6, 0, 1, "share of answers to a verdict that repair or improve the code"},
      {"bad_edit", 0.1, 0, 1, "share of edits that match nothing"},
      {"dead_end", 0, 0, 1, "share of approaches that no repair makes right"},
      {"insight", 0, 0, 1, "share of repairs that fail without a reflection and succeed with one"},
      {"fake", 0, 0, 1, "1: comments in the answers give the device fake its verdicts and speeds",
       true},
  };
  return list;
}

Result<std::unique_ptr<SimClient>> SimClient::make(const std::string& name,
                                                   const std::filesystem::path& operators_dir) {
  Result<NamedOptions> named = parse_options(name, sim_options());
  if (!named) return fail(named.error());
  std::uint64_t seed = 0;
  const auto [end, error] =
      std::from_chars(named->name.data(), named->name.data() + named->name.size(), seed);
  if (error != std::errc{} || end != named->name.data() + named->name.size()) {
    return fail(ErrorCode::invalid_argument, "'sim:" + name +
                                                 "': the seed is not a number; valid: sim:SEED or "
                                                 "sim:SEED?key=value&..., e.g. sim:7?wrong=0.3");
  }
  NumberValues& odds = named->values;
  if (odds["compile_error"] + odds["wrong"] + odds["slow"] > 1) {
    return fail(
        ErrorCode::invalid_argument,
        "'sim:" + name +
            "': compile_error, wrong and slow are shares of one whole; their sum is above 1");
  }
  std::unique_ptr<SimClient> client(new SimClient(name, seed, odds));
  std::error_code broken;
  for (std::filesystem::recursive_directory_iterator it(operators_dir, broken), last;
       !broken && it != last; it.increment(broken)) {
    const std::string file = it->path().filename().string();
    if (file == kOracle || file == kProblem)
      client->oracles_[it->path().parent_path().filename().string()] = it->path();
  }
  if (broken)
    return fail(ErrorCode::not_found, "sim: " + operators_dir.string() + ": " + broken.message());
  return client;
}

std::vector<std::string> SimClient::known_operators() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : oracles_) names.push_back(name);
  return names;
}

/// Answers a prompt that asks for no code. If the prompt shows correct code with speeds, the answer
/// names the next version to try.
std::string SimClient::prose(const CompletionRequest& request,
                             const std::string& operator_name) const {
  const std::string& newest = request.messages.back().text;
  const std::vector<Ideas> fastest =
      ideas_in(extract_code(newest, operator_name));  // a prompt shows the fastest version last
  if (fastest.empty() || heard_in(request) == Heard::failure)
    return "The verdict names the place: look at the operators, the masks and the launch there.\n";
  SeededRng draws(seed_, operator_name + "\n" + request.attempt + "\n" +
                             std::to_string(request.turn) + "\nplan");
  return plan_sentence(next_ideas(fastest.front(), ideas_in(newest), draws));
}

std::string SimClient::fake_comments(const std::string& operator_name, Flaw flaw, bool mends,
                                     const std::string& base, const std::string& prompt,
                                     SeededRng& draws) const {
  const std::vector<Ideas> shown = ideas_in(base);
  const std::optional<Ideas> planned = planned_ideas(prompt);
  Ideas ideas = 0;
  if (shown.empty()) {
    ideas = first_ideas(draws);
  } else if (mends) {
    ideas = shown.front();
  } else {
    ideas = planned ? *planned : next_ideas(shown.front(), ideas_in(prompt), draws);
  }
  const double perf =
      Landscape(seed_, operator_name).perf(ideas) * (flaw == Flaw::slow ? kSlowFactor : 1);
  char speed[64];
  std::snprintf(speed, sizeof(speed), "# fake: perf=%.4f\n", perf);
  std::string comments = ideas_comment(ideas) + speed;
  if (flaw == Flaw::does_not_compile) comments += "# fake: error=compilation_error\n";
  if (flaw == Flaw::wrong) comments += "# fake: fail\n";
  return comments;
}

Result<CompletionReply> SimClient::complete(const CompletionRequest& request) {
  const std::string name = named_operator(request);
  if (name.empty())
    return fail(ErrorCode::not_found,
                "sim: the prompt names no operator; it needs a line 'Operator: NAME'");
  const auto file = oracles_.find(name);
  if (file == oracles_.end())
    return fail(ErrorCode::not_found,
                "sim: there is no oracle of operator '" + name + "' in its suite");
  std::ifstream stream(file->second, std::ios::binary);
  if (!stream) return fail_errno("open " + file->second.string());
  std::string oracle{std::istreambuf_iterator<char>(stream), {}};
  if (file->second.filename() == kProblem) oracle += kSameClass;

  CompletionReply reply;
  reply.stop_reason = "end_of_simulation";
  reply.usage_known = true;
  const std::string& newest = request.messages.back().text;
  const std::string identity = name + "\n" + request.attempt;
  if (newest.find(kProseMark) != std::string::npos) {
    reply.text = prose(request, name);
    return reply;
  }
  SeededRng draws(seed_, identity + "\n" + std::to_string(request.turn));
  const Heard heard = heard_in(request);
  const double insight =
      newest.find(kReflectionMark) == std::string::npos ? 0 : odds_.at("insight");
  Flaw flaw =
      draw_flaw(heard, odds_.at("repair") + insight * (1 - odds_.at("repair")), odds_, draws);
  const bool bad_edit = draws.uniform() < odds_.at("bad_edit");
  const std::uint64_t place = draws.next();
  // The random draws for the options dead_end and fake come last. So these options do not change
  // the other draws of a seed.
  const std::string base = heard == Heard::nothing ? "" : extract_code(newest, name);
  std::string comments;
  if (odds_.at("dead_end") > 0) {
    const std::size_t attack = attack_of(base).value_or(draws.below(kAttacks));
    const bool is_right = flaw == Flaw::none || flaw == Flaw::slow;
    if (is_right && is_dead_end(seed_, identity, attack, odds_.at("dead_end")))
      flaw = draws.uniform() < 0.5 ? Flaw::does_not_compile : Flaw::wrong;
    comments += attack_comment(attack);
  }
  if (odds_.at("fake") > 0)
    comments += fake_comments(name, flaw, heard == Heard::failure, base, newest, draws);
  const std::string code = comments + mutate(oracle, flaw, place);
  const std::string current = asks_for_edits(request) ? extract_code(newest, name) : "";
  if (current.empty()) {
    reply.text = "A simulated answer.\n\n```python\n" + code + "```\n";
  } else if (bad_edit) {
    reply.text = "A simulated edit.\n\n" + std::string(kEditMark) +
                 "\nthis line is nowhere in the code\n=======\npass\n>>>>>>> REPLACE\n";
  } else if (current == code) {
    reply.text = "There is nothing that I would change.\n";
  } else {
    reply.text = "A simulated edit.\n\n" + edit_text(current, code);
  }
  return reply;
}

Result<CompletionReply> ScriptedClient::complete(const CompletionRequest& request) {
  const std::string name = named_operator(request);
  if (name.empty())
    return fail(ErrorCode::not_found,
                "scripted: the prompt names no operator; it needs a line 'Operator: NAME'");
  const std::filesystem::path file = answers_ / (name + ".md");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return fail(ErrorCode::not_found,
                "scripted: there is no answer for operator '" + name + "' (" + file.string() + ")");
  CompletionReply reply;
  reply.text.assign(std::istreambuf_iterator<char>(stream), {});
  reply.stop_reason = "end_of_script";
  reply.usage_known = true;
  return reply;
}

std::vector<std::string> ScriptedClient::known_operators() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(answers_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".md") names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string named_operator(const CompletionRequest& request) {
  constexpr std::string_view kMark = "Operator: ";
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    const std::string text = "\n" + message->text;
    const std::size_t at = text.rfind("\n" + std::string(kMark));
    if (at == std::string::npos) continue;
    const std::size_t begin = at + 1 + kMark.size();
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", begin);
    return text.substr(begin, end == std::string::npos ? end : end - begin);
  }
  return "";
}

}  // namespace assay::agents
