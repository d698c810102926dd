#include <algorithm>
#include <array>
#include <utility>

#include "sandbox/profile/sass.h"

namespace assay::sandbox {
namespace {

using Kind = Opcode::Kind;

constexpr std::size_t kMaxNameBytes = 40;
constexpr const char* kFloat16 = "float16 tensor";
constexpr const char* kFloat8 = "float8 tensor";
constexpr const char* kInt8 = "int8 tensor";
constexpr const char* kTf32 = "tf32 tensor";
constexpr const char* kFloat64 = "float64 tensor";

constexpr std::array<std::pair<std::string_view, Kind>, 31> kNvidia = {{
    {"HMMA", Kind::tensor},
    {"HGMMA", Kind::tensor},
    {"IMMA", Kind::tensor},
    {"IGMMA", Kind::tensor},
    {"QMMA", Kind::tensor},
    {"QGMMA", Kind::tensor},
    {"DMMA", Kind::tensor},
    {"UTCHMMA", Kind::tensor},
    {"UTCQMMA", Kind::tensor},
    {"UTCIMMA", Kind::tensor},
    {"BAR", Kind::barrier},
    {"SYNCS", Kind::barrier},
    {"LDL", Kind::local},
    {"STL", Kind::local},
    {"LDG", Kind::global_load},
    {"LD", Kind::global_load},
    {"STG", Kind::global_store},
    {"ST", Kind::global_store},
    {"LDS", Kind::shared_load},
    {"LDSM", Kind::shared_load},
    {"STS", Kind::shared_store},
    {"STSM", Kind::shared_store},
    {"LDGSTS", Kind::global_to_shared},
    {"UTMALDG", Kind::global_to_shared},
    {"UBLKCP", Kind::global_to_shared},
    {"UTMASTG", Kind::global_store},
    {"BRA", Kind::branch},
    {"BRX", Kind::branch},
    {"EXIT", Kind::end},
    {"RET", Kind::end},
    {"NOP", Kind::padding},
}};

bool has_part(std::string_view text, std::string_view part) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    const auto after = at + part.size();
    if ((at == 0 || text[at - 1] == '.') && (after == text.size() || text[after] == '.'))
      return true;
  }
  return false;
}

std::string nvidia_unit(std::string_view base, std::string_view text) {
  if (base.find("IMMA") != base.npos || base.find("IGMMA") != base.npos) return kInt8;
  if (base.find("QMMA") != base.npos || base.find("QGMMA") != base.npos) return kFloat8;
  if (base == "DMMA") return kFloat64;
  return has_part(text, "TF32") ? kTf32 : kFloat16;
}

std::string nvidia_width(std::string_view base, std::string_view text) {
  if (base.starts_with("UTM") || base == "UBLKCP") return "bulk";
  if (base == "LDSM" || base == "STSM") return "matrix";
  for (const std::string_view bits : {"128", "64"}) {
    if (has_part(text, bits)) return std::string(bits);
  }
  if (has_part(text, "U8") || has_part(text, "S8")) return "8";
  if (has_part(text, "U16") || has_part(text, "S16")) return "16";
  return "32";
}

/// Returns the number of bits that an access moves. The number is derived from the instruction's
/// name, such as "global_load_dwordx4", "ds_read_b128" or "buffer_load_ushort".
std::string amd_width(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, const char*>, 12> kWidths = {{
      {"x4", "128"},
      {"b128", "128"},
      {"x3", "96"},
      {"b96", "96"},
      {"x2", "64"},
      {"b64", "64"},
      {"short", "16"},
      {"b16", "16"},
      {"u16", "16"},
      {"byte", "8"},
      {"b8", "8"},
      {"u8", "8"},
  }};
  for (const auto& [part, bits] : kWidths) {
    if (text.find(part) != text.npos) return bits;
  }
  return "32";
}

std::string amd_unit(std::string_view text) {
  if (text.find("xf32") != text.npos) return kTf32;
  if (text.find("f64") != text.npos) return kFloat64;
  if (text.find("fp8") != text.npos || text.find("bf8") != text.npos ||
      text.find("f8f6f4") != text.npos)
    return kFloat8;
  if (text.find("i8") != text.npos) return kInt8;
  if (text.find("f16") != text.npos) return kFloat16;
  return "float32";
}

Kind amd_kind(std::string_view text) {
  const auto starts = [&](std::string_view prefix) { return text.starts_with(prefix); };
  if (starts("v_mfma") || starts("v_smfmac")) return Kind::tensor;
  if (starts("s_barrier")) return Kind::barrier;
  if (starts("scratch_")) return Kind::local;
  if (starts("global_load_lds") || (starts("buffer_load") && text.ends_with("_lds")))
    return Kind::global_to_shared;
  if (starts("global_load") || starts("buffer_load") || starts("flat_load"))
    return Kind::global_load;
  if (starts("global_store") || starts("buffer_store") || starts("flat_store"))
    return Kind::global_store;
  if (starts("ds_read") || starts("ds_load")) return Kind::shared_load;
  if (starts("ds_write") || starts("ds_store")) return Kind::shared_store;
  if (starts("s_branch") || starts("s_cbranch")) return Kind::branch;
  if (starts("s_endpgm")) return Kind::end;
  if (starts("s_nop") || starts("s_code_end")) return Kind::padding;
  return Kind::other;
}

bool is_access(Kind kind) {
  return kind == Kind::global_load || kind == Kind::global_store || kind == Kind::shared_load ||
         kind == Kind::shared_store || kind == Kind::global_to_shared;
}

}  // namespace

Opcode nvidia_opcode(std::string_view text) {
  const std::string_view base = text.substr(0, text.find('.'));
  Opcode opcode;
  const auto known = std::find_if(kNvidia.begin(), kNvidia.end(),
                                  [&](const auto& one) { return one.first == base; });
  if (known != kNvidia.end()) opcode.kind = known->second;
  opcode.name = base.substr(0, kMaxNameBytes);
  if (opcode.kind == Kind::tensor) opcode.unit = nvidia_unit(base, text);
  if (is_access(opcode.kind)) {
    opcode.width = nvidia_width(base, text);
    if (opcode.width != "bulk" && opcode.width != "matrix") opcode.name += "." + opcode.width;
  }
  return opcode;
}

Opcode amd_opcode(std::string_view text) {
  Opcode opcode;
  opcode.kind = amd_kind(text);
  opcode.name = text.substr(0, kMaxNameBytes);
  // In the name of a matrix instruction, the operand type follows the extents. For example,
  // v_mfma_f32_32x32x8_f16 multiplies matrices of f16.
  if (opcode.kind == Kind::tensor)
    opcode.unit = amd_unit(text.substr(text.rfind('x') == text.npos ? 0 : text.rfind('x')));
  if (is_access(opcode.kind)) opcode.width = amd_width(text);
  return opcode;
}

}  // namespace assay::sandbox
