#include "sandbox/profile/sass.h"
#include "tests/catch.h"

using assay::sandbox::amd_opcode;
using assay::sandbox::nvidia_opcode;
using assay::sandbox::Opcode;
using Kind = assay::sandbox::Opcode::Kind;

TEST_CASE("accesses have their kind and their width, whatever modifiers stand between") {
  const Opcode load = nvidia_opcode("LDG.E.128.CONSTANT");
  CHECK(load.kind == Kind::global_load);
  CHECK(load.name == "LDG.128");
  CHECK(nvidia_opcode("LDG.E").width == "32");
  CHECK(nvidia_opcode("LDG.E.U16").width == "16");
  const Opcode copy = nvidia_opcode("LDGSTS.E.BYPASS.LTC128B.64");
  CHECK(copy.kind == Kind::global_to_shared);
  CHECK(copy.width == "64");
  CHECK(nvidia_opcode("UTMALDG.2D").width == "bulk");
  CHECK(nvidia_opcode("STL.64").kind == Kind::local);
}

TEST_CASE("matrix instructions have their unit; HFMA2.MMA is no matrix instruction") {
  CHECK(nvidia_opcode("HGMMA.64x128x16.F32").unit == "float16 tensor");
  CHECK(nvidia_opcode("HMMA.1684.F32.TF32").unit == "tf32 tensor");
  CHECK(nvidia_opcode("IMMA.16832.S8.S8").unit == "int8 tensor");
  CHECK(nvidia_opcode("QGMMA.64x64x32.F32.E4M3.E4M3").unit == "float8 tensor");
  CHECK(nvidia_opcode("HFMA2.MMA").kind == Kind::other);
  CHECK(amd_opcode("v_mfma_f32_32x32x8_f16").unit == "float16 tensor");
  CHECK(amd_opcode("v_mfma_f32_16x16x16_bf16").unit == "float16 tensor");
  CHECK(amd_opcode("v_mfma_f32_16x16x8_xf32").unit == "tf32 tensor");
  CHECK(amd_opcode("v_mfma_f32_32x32x2_f32").unit == "float32");
  CHECK(amd_opcode("v_mfma_i32_16x16x32_i8").unit == "int8 tensor");
}

TEST_CASE("accesses of AMD's instructions have their kind and their width") {
  CHECK(amd_opcode("global_load_dwordx4").width == "128");
  CHECK(amd_opcode("global_load_dword").width == "32");
  CHECK(amd_opcode("global_load_ushort").width == "16");
  CHECK(amd_opcode("ds_write_b64").kind == Kind::shared_store);
  CHECK(amd_opcode("ds_read_b128").width == "128");
  CHECK(amd_opcode("scratch_load_dword").kind == Kind::local);
  CHECK(amd_opcode("s_cbranch_execz").kind == Kind::branch);
}
