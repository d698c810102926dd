// Tests what a launcher process does between the launches of a run, with the fake driver and over a
// real socket.
#include <sys/wait.h>

#include <cstdint>
#include <utility>
#include <variant>

#include "sandbox/wire/launch_request.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;
using test::LauncherProcess;

namespace {

constexpr std::uint32_t kKeptFloats = 3000;

Plan faulting_plan() {
  Plan plan = test::vector_add_plan(kKeptFloats, "fake_illegal_address");
  std::get<KernelOp>(plan.ops[0]).params.clear();
  return plan;
}

}  // namespace

TEST_CASE("a launcher checks its device when it is asked to, and ends if its context is lost") {
  LauncherProcess launcher("fake");
  launcher.ready();
  const auto ask = [&] {
    REQUIRE(send_frame(launcher.socket(), {{"type", "check"}}, {}, {}, Deadline::after_ms(60'000)));
    const Result<Frame> answer = launcher.receive();
    return answer && answer->type() == "checked";
  };
  CHECK(ask());
  test::LaunchCase one = test::vector_add_case(kKeptFloats);
  test::check_sums(one, one.run(launcher, test::vector_add_plan(kKeptFloats)));
  CHECK(ask());
  CHECK(one.run(launcher, faulting_plan())["kind"] == "gpu_fault");
  CHECK_FALSE(ask());
  CHECK(WEXITSTATUS(launcher.reap()) == 1);
}

TEST_CASE(
    "a launcher keeps a judge's memory for the next request, until it is told to release it") {
  LauncherProcess launcher("fake");
  launcher.ready();
  constexpr std::uint64_t kY = 16'384, kOut = 32'768, kMemory = 65'536;
  static_assert(kKeptFloats * sizeof(float) <= kY);
  const Result<UniqueFd> memory = create_memfd("device", kMemory);
  REQUIRE(memory);
  const Result<UniqueFd> other = create_memfd("other", kMemory);
  REQUIRE(other);
  const auto values = [](const UniqueFd& file) {
    return std::move(Mapping::map(file.get(), kMemory, true).value());
  };
  const Mapping shown = values(*memory), unused = values(*other);
  const auto at = [](const Mapping& mapping, std::uint64_t offset) {
    return reinterpret_cast<float*>(mapping.data() + offset);
  };
  /// Adds y to x, with the handle `file`. Returns the first output that the judge sees.
  const auto add = [&](std::uint64_t id, const UniqueFd& file, float x, std::uint64_t bytes) {
    for (std::uint32_t i = 0; i < kKeptFloats; ++i) at(shown, 0)[i] = x;
    LaunchRequest request;
    request.case_id = "c";
    request.inputs = {{.name = "x", .bytes = kKeptFloats * 4},
                      {.name = "y", .offset = kY, .bytes = kKeptFloats * 4}};
    request.output_offset = kOut;
    request.output_bytes = kMemory - kOut;
    request.device_bytes = bytes;
    request.memory_id = id;
    request.gpu_memory_bytes = 1 << 28;
    REQUIRE(send_frame(launcher.socket(), to_header(request),
                       encode_plan(test::vector_add_plan(kKeptFloats)), {file.get()},
                       Deadline::after_ms(60'000)));
    const Result<Frame> answer = launcher.receive();
    REQUIRE(answer);
    return answer->header;
  };
  CHECK(add(7, *memory, 1, kMemory)["holds_memory"] == true);
  CHECK(at(shown, kOut)[0] == 1);
  // The number says which memory it is, so the handle is not used again.
  CHECK(add(7, *other, 2, kMemory)["holds_memory"] == true);
  CHECK(at(shown, kOut)[0] == 2);
  CHECK(at(unused, kOut)[0] == 0);
  CHECK(add(7, *memory, 2, kMemory / 2)["kind"] == "internal_error");
  REQUIRE(send_frame(launcher.socket(), to_header(ReleaseRequest{}), {}, {},
                     Deadline::after_ms(60'000)));
  CHECK(add(8, *memory, 3, kMemory)["holds_memory"] == true);
  CHECK(at(shown, kOut)[0] == 3);
  CHECK(add(0, *memory, 4, kMemory)["holds_memory"] == false);
  CHECK(at(shown, kOut)[0] == 4);
}
