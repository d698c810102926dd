#include "sandbox/device/case_io.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kAlignment = 256;       // of each output in its file, as the harness packs them
constexpr std::int64_t kWidest = 8;            // a float64 where an int8 was due, for outputs of up to
constexpr std::int64_t kSmallBytes = 1 << 20;  // this size; of larger ones the candidate itself finds that they do not fit
constexpr std::int64_t kSlackBytes = 64 << 10;

CandidateCase describe(const PreparedCase& prepared) {
  CandidateCase one;
  one.id = prepared.id;
  one.arguments = prepared.arguments;
  one.structural = prepared.structural;
  one.inout = prepared.inout;
  for (const PreparedOutput& output : prepared.outputs) one.output_from.push_back(output.from);
  return one;
}

/// Renumbers the descriptors of a case's arguments into `fds`.
void place(CandidateCase& one, const PreparedJob& prepared, std::vector<int>& fds) {
  std::map<std::int64_t, std::int64_t> placed;
  for (Argument& argument : one.arguments) {
    if (!argument.fd) continue;
    const auto [found, fresh] = placed.emplace(*argument.fd, static_cast<std::int64_t>(fds.size()));
    if (fresh) fds.push_back(prepared.fds[static_cast<std::size_t>(*argument.fd)].get());
    argument.fd = found->second;
  }
}

}  // namespace

std::int64_t output_capacity(const PreparedCase& one) {
  std::int64_t bytes = kSlackBytes;
  for (const PreparedOutput& output : one.outputs) {
    const std::int64_t room = output.nbytes <= kSmallBytes ? output.nbytes * kWidest : output.nbytes;
    bytes += (room + kAlignment - 1) / kAlignment * kAlignment;
  }
  return bytes;
}

Result<std::vector<UniqueFd>> make_output_files(const std::vector<PreparedCase>& cases) {
  std::vector<UniqueFd> files;
  for (const PreparedCase& one : cases) {
    Result<UniqueFd> file = create_memfd("assay-outputs", static_cast<std::uint64_t>(output_capacity(one)));
    if (!file) return fail(file.error());
    files.push_back(std::move(*file));
  }
  return files;
}

CandidateInputs interpret_inputs(const PreparedJob& prepared, const std::vector<UniqueFd>& outputs) {
  CandidateInputs inputs;
  for (std::size_t i = 0; i < prepared.cases.size(); ++i) {
    CandidateCase one = describe(prepared.cases[i]);
    place(one, prepared, inputs.fds);
    one.output_fd = static_cast<std::int64_t>(inputs.fds.size());
    one.output_bytes = output_capacity(prepared.cases[i]);
    inputs.fds.push_back(outputs[i].get());
    inputs.cases.push_back(std::move(one));
  }
  return inputs;
}

CandidateInputs record_inputs(const PreparedJob& prepared) {
  CandidateInputs inputs;
  for (const PreparedCase& from : prepared.cases) {
    CandidateCase one = describe(from);
    for (Argument& argument : one.arguments) {
      const bool structural = std::find(one.structural.begin(), one.structural.end(), argument.name) != one.structural.end();
      if (!structural) argument.fd.reset();
    }
    place(one, prepared, inputs.fds);
    inputs.cases.push_back(std::move(one));
  }
  return inputs;
}

}  // namespace assay::sandbox
