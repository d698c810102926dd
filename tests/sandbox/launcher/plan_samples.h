// Provides launch plans for tests, and the smallest valid device binary.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox::test {

/// Returns an ELF file that contains only its header. The fake driver reads nothing else.
inline std::string tiny_elf() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header));
}

/// Returns an ELF file with two sections: the section of names, and a writable section `name` that
/// takes no bytes in the file.
inline std::string elf_with_section(const std::string& name, std::uint64_t bytes) {
  const std::string names = std::string(1, '\0') + name + '\0';
  std::string image = tiny_elf() + names;
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  header.e_shoff = image.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 1;
  std::memcpy(image.data(), &header, sizeof header);
  Elf64_Shdr data{}, text{};
  data.sh_name = 1;
  data.sh_type = SHT_NOBITS;
  data.sh_flags = SHF_ALLOC | SHF_WRITE;
  data.sh_size = bytes;
  text.sh_type = SHT_STRTAB;
  text.sh_offset = sizeof header;
  text.sh_size = names.size();
  for (const Elf64_Shdr* section : {&data, &text})
    image.append(reinterpret_cast<const char*>(section), sizeof *section);
  return image;
}

/// Returns an ELF file whose table of symbols contains one function. In the cubin of a kernel,
/// `other` is 0x10.
inline std::string elf_with_function(unsigned char other) {
  std::string image = elf_with_section(".symtab", 0);
  Elf64_Sym symbol{};
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_other = other;
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  Elf64_Shdr table;
  std::memcpy(&table, image.data() + header.e_shoff, sizeof table);
  table.sh_type = SHT_SYMTAB;
  table.sh_flags = 0;
  table.sh_offset = image.size();
  table.sh_size = sizeof symbol;
  std::memcpy(image.data() + header.e_shoff, &table, sizeof table);
  return image.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
}

/// Returns a plan for out = x + y over n floats, as the recorder would write it. The plan has two
/// inputs, and the output is in scratch memory.
inline Plan vector_add_plan(std::uint32_t n, const std::string& kernel = "fake_vector_add",
                            std::string image = tiny_elf()) {
  const std::uint64_t bytes = n * 4ULL;
  Plan plan;
  plan.target = "cuda:90";
  plan.buffers = {{BufferKind::input, bytes, "x", ""},
                  {BufferKind::input, bytes, "y", ""},
                  {BufferKind::scratch, bytes, "", ""}};
  plan.binaries = {{kernel, 0, std::move(image)}};
  KernelOp op;
  op.grid = {(n + 127) / 128, 1, 1};
  op.block = {128, 1, 1};
  op.params = {PointerParam{0, 0}, PointerParam{1, 0}, PointerParam{2, 0}, ScalarParam{4, n}};
  plan.ops = {op};
  plan.outputs = {{2, 0, "float32", {static_cast<std::int64_t>(n)}, {1}}};
  return plan;
}

/// Returns a tensor map of 4 x 16 floats, with tiles of 2 x 8 floats. The floats fill a buffer of
/// 256 bytes.
inline TensorMapParam tensor_map() {
  TensorMapParam map;
  map.buffer = 2;
  map.type = 7;  // the driver's number for float32
  map.swizzle = 1;
  map.nan_outside = 1;
  map.shape = {16, 4};
  map.strides = {64};
  map.box = {8, 2};
  return map;
}

/// Returns a plan that uses every feature of the format.
inline Plan rich_plan() {
  Plan plan = vector_add_plan(64);
  plan.buffers.push_back({BufferKind::constant, 5, "", std::string("\0\1\2\3\4", 5)});
  plan.binaries.push_back({"kérnel", 70'000, tiny_elf() + "code"});
  KernelOp op;
  op.binary = 1;
  op.grid = {4, 2, 1};
  op.cluster = {2, 1, 1};
  op.block = {32, 2, 1};
  op.flags = kFlagCooperative | kFlagDependentLaunch;
  op.params = {ScalarParam{1, 1}, ScalarParam{2, 500},          ScalarParam{8, ~0ULL},
               NullParam{},       GlobalScratchParam{128, 128}, PointerParam{3, 5}};
  op.params.emplace_back(tensor_map());
  plan.ops.push_back(op);
  plan.ops.push_back(FillOp{2, 8, 3, 8, 0x0102030405060708});
  plan.ops.push_back(CopyOp{2, 0, 0, 16, 32});
  plan.ops.push_back(ChoiceOp{7,
                              {{"BLOCK: 64", {op, FillOp{2, 0, 1, 4, 0}}},
                               {"BLOCK: 128", {CopyOp{2, 0, 0, 0, 16}}},
                               {"", {}}}});
  plan.outputs.push_back({2, 4, "int32", {2, 3}, {1, 2}});
  plan.outputs.push_back({3, 5, "uint8", {0, 4}, {4, 1}});
  return plan;
}

}  // namespace assay::sandbox::test
