#include "sandbox/profile/sass.h"

#include <string>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

constexpr const char* kSource =
    "import triton\n\n@triton.jit\ndef add(x):\n    y = tl.load(x)\n    tl.store(x, y)\n";

// Output in the form of nvdisasm 12.8. It contains a loop of three instructions, and a line of a
// library. After the EXIT instruction follow a rare path that jumps back, and a jump to itself.
constexpr const char* kNvidia = R"(
.text.add:
	//## File "/tmp/job-x1/submission.py", line 4
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
	//## File "/tmp/job-x1/submission.py", line 5
        /*0010*/              @!P5 LDG.E.128 R4, desc[UR8][R2.64] ;
	//## File "/usr/lib/python3/triton/language/standard.py", line 293
        /*0020*/                   FADD R5, R4, R5 ;
	//## File "/tmp/job-x1/submission.py", line 5
        /*0030*/               @P1 BRA `(.L_x_1) ;
.L_x_4:
	//## File "/tmp/job-x1/submission.py", line 6
        /*0040*/                   STG.E [R2.64], R4 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/                   EXIT ;
.L_x_2:
        /*0070*/                   SHFL.BFLY PT, R1, R2, 0x1, 0x1f ;
        /*0080*/                   BRA `(.L_x_4) ;
.L_x_3:
        /*0090*/                   BRA `(.L_x_3);
        /*00a0*/                   NOP;
)";

constexpr const char* kAmd = R"(	.text
add:                                    ; @add
	.file	1 "/tmp/job-x" "submission.py"
	.loc	1 4 0 prologue_end              ; submission.py:4:0
	s_load_dwordx2 s[2:3], s[0:1], 0x0
.LBB0_1:
	.loc	1 5 26                          ; submission.py:5:26
	global_load_dwordx4 v[4:7], v[2:3], off
	.loc	1 0 26                          ; submission.py:0:26
	v_add_f32_e32 v0, v4, v1
	s_cbranch_vccnz .LBB0_1
	.loc	1 6 4                           ; submission.py:6:4
	global_store_dword v[2:3], v0, off
	s_endpgm
	.section	.rodata,"a",@progbits
	s_nop 0
)";

const LineCount* line(const CodeDigest& digest, const std::string& file, std::int64_t number) {
  for (const LineCount& one : digest.lines) {
    if (one.file == file && one.line == number) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("instructions are counted by line, and a branch back makes a loop") {
  const CodeDigest digest =
      digest_code(kNvidia, {.kernel = "add", .target = "cuda:90", .source = kSource});
  CHECK(digest.instructions == 10);  // the padding does not count
  CHECK(digest.looped ==
        3);  // the jump back from behind EXIT and the jump to itself do not count as loops
  CHECK(digest.barriers == 1);
  CHECK(digest.global_loads.at("128") == 1);
  CHECK(digest.global_stores.at("32") == 1);
  REQUIRE_FALSE(digest.lines.empty());
  CHECK(digest.lines.front().line == 5);
  CHECK(digest.lines.front().looped == 2);
  CHECK(digest.lines.front().code == "y = tl.load(x)");
  REQUIRE(line(digest, "language/standard.py", 293) != nullptr);
  CHECK(line(digest, "language/standard.py", 293)->looped == 1);
  CHECK(line(digest, "", 6)->looped == 0);
}

TEST_CASE("AMD's assembly has lines and loops, and ends where its tables begin") {
  const CodeDigest digest =
      digest_code(kAmd, {.kernel = "add", .target = "hip:gfx942", .source = kSource});
  CHECK(digest.instructions == 6);
  CHECK(digest.looped == 3);
  CHECK(digest.global_loads.at("128") == 1);
  CHECK(line(digest, "", 5)->looped == 3);
  CHECK(line(digest, "", 6)->code == "tl.store(x, y)");
}

TEST_CASE("other text gives an empty digest, which stays small") {
  CHECK(digest_code("", {.kernel = "k", .target = "cuda:90", .source = ""}).instructions == 0);
  CHECK(digest_code("nvdisasm fatal   : no", {.kernel = "k", .target = "cuda:90", .source = ""})
            .instructions == 0);
  std::string many;
  for (int i = 0; i < 3000; ++i)
    many += "//## File \"/x/submission.py\", line " + std::to_string(i + 1) + "\n/*0000*/ OP" +
            std::to_string(i) + " R1 ;\n";
  const CodeDigest digest = digest_code(many, {.kernel = "k", .target = "cuda:90", .source = ""});
  CHECK(digest.instructions == 3000);
  CHECK(digest.lines.size() == kMaxDigestLines);
  CHECK(digest.opcodes.size() == kMaxDigestOpcodes);
}
