// Tests the checks of AMD binaries: their metadata, and the descriptors of their kernels.
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sandbox/launcher/driver/hip_arguments.h"
#include "sandbox/launcher/plan/plan_check.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

/// The parts of an AMD binary that a test changes. The binary has a note with metadata, and a table
/// of symbols with the descriptor `k.kd`.
struct AmdParts {
  std::uint64_t alignment = 4;  // of the note
  std::uint16_t notes = 1;      // the number of segments that name the note
  std::uint32_t type = kAmdMetadataNote;
  std::uint32_t group_bytes = 0, private_bytes = 0, argument_bytes = 0;
  std::uint16_t properties = 0b1000;
  std::uint64_t address = 0x1000, other_address = 0x1000;  // of `k.kd` in the two tables
  std::uint64_t loaded_bytes = 64, symbol_bytes = 64;
  std::uint64_t memory_bytes = 64;         // of the second segment
  std::uint64_t second_address = 0x2000;   // of the second segment
  std::uint64_t section_address = 0x1000;  // of the section with the descriptor
  std::uint64_t section_bytes = 64;
  std::uint16_t section = 4;  // the number of this section in the symbols
  std::uint32_t names = 1;    // the number of the section of names
  std::string name_end = std::string(1, '\0');
  std::string symbol = "k.kd";
  unsigned char symbol_type = STT_OBJECT;
  std::uint16_t loads = 2;            // the number of loaded segments
  std::uint64_t relocation = 0x2000;  // the address that a relocation changes
  std::uint32_t relocations = SHT_RELA;
  std::uint32_t tables = SHT_SYMTAB;  // the type of the second table of symbols
};

template <class T>
void append(std::string& image, const T& value) {
  image.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Returns the number of bytes of arguments that the metadata of the first kernel have.
std::uint32_t argument_bytes(const std::string& metadata) {
  if (metadata.size() > 1'000'000) return 0;  // the parser calls itself for each level
  const auto read = nlohmann::json::from_msgpack(metadata, true, false);
  if (!read.is_object() || !read.contains("amdhsa.kernels")) return 0;
  const auto& kernels = read.at("amdhsa.kernels");
  const bool told = kernels.is_array() && !kernels.empty() && kernels[0].is_object() &&
                    kernels[0].contains(".kernarg_segment_size");
  return told ? kernels[0][".kernarg_segment_size"].get<std::uint32_t>() : 0;
}

std::string amd_binary(const std::string& metadata, const AmdParts& parts) {
  Elf64_Nhdr note{
      .n_namesz = 7, .n_descsz = static_cast<Elf64_Word>(metadata.size()), .n_type = parts.type};
  std::string notes(reinterpret_cast<const char*>(&note), sizeof note);
  notes += std::string("AMDGPU\0\0", 8) + metadata;
  notes.resize((notes.size() + 7) / 8 * 8);
  std::string descriptor;
  for (const std::uint32_t bytes : {parts.group_bytes, parts.private_bytes, parts.argument_bytes})
    append(descriptor, bytes);
  descriptor.resize(56);
  append(descriptor, parts.properties);
  descriptor.resize(64);
  const std::string names = std::string(1, '\0') + parts.symbol + parts.name_end;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = kAmdMachine;
  header.e_phnum = static_cast<Elf64_Half>(parts.notes + parts.loads);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 6;
  const std::uint64_t note_at = sizeof header + header.e_phnum * sizeof(Elf64_Phdr);
  const std::uint64_t descriptor_at = note_at + notes.size();
  const std::uint64_t names_at = descriptor_at + descriptor.size();
  const std::uint64_t symbols_at = names_at + names.size();
  const std::uint64_t relocation_at = symbols_at + 2 * sizeof(Elf64_Sym);
  header.e_shoff = relocation_at + sizeof(Elf64_Rela);
  std::string image;
  append(image, header);
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = note_at;
  segment.p_filesz = notes.size();
  segment.p_align = parts.alignment;
  for (int i = 0; i < parts.notes; ++i) append(image, segment);
  segment.p_type = PT_LOAD;
  segment.p_offset = descriptor_at;
  segment.p_vaddr = 0x1000;
  segment.p_filesz = segment.p_memsz = parts.loaded_bytes;
  for (int i = 0; i < parts.loads; ++i) {
    append(image, segment);
    segment.p_vaddr = i == 0 ? parts.second_address : segment.p_vaddr + 0x1000;
    segment.p_memsz = parts.memory_bytes;
  }
  image += notes + descriptor + names;
  for (const std::uint64_t address : {parts.address, parts.other_address}) {
    Elf64_Sym symbol{};
    symbol.st_name = 1;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, parts.symbol_type);
    symbol.st_value = address;
    symbol.st_size = parts.symbol_bytes;
    symbol.st_shndx = parts.section;
    append(image, symbol);
  }
  append(image, Elf64_Rela{.r_offset = parts.relocation, .r_info = 0, .r_addend = 0});
  append(image, Elf64_Shdr{});
  Elf64_Shdr section{};
  section.sh_type = SHT_STRTAB;
  section.sh_offset = names_at;
  section.sh_size = names.size();
  append(image, section);
  section.sh_link = parts.names;
  section.sh_size = section.sh_entsize = sizeof(Elf64_Sym);
  for (const bool second : {false, true}) {
    section.sh_type = second ? parts.tables : SHT_DYNSYM;
    section.sh_offset = symbols_at + (second ? sizeof(Elf64_Sym) : 0);
    append(image, section);
  }
  section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = descriptor_at;
  section.sh_addr = parts.section_address;
  section.sh_size = parts.section_bytes;
  append(image, section);
  section.sh_type = parts.relocations;
  section.sh_offset = relocation_at;
  section.sh_size = sizeof(Elf64_Rela);
  append(image, section);
  return image;
}

/// The same with a descriptor that agrees with the metadata.
std::string amd_binary(const std::string& metadata, std::uint64_t alignment = 4,
                       std::uint16_t notes = 1, std::uint32_t type = kAmdMetadataNote) {
  return amd_binary(metadata, AmdParts{.alignment = alignment,
                                       .notes = notes,
                                       .type = type,
                                       .argument_bytes = argument_bytes(metadata)});
}

std::string packed(const nlohmann::json& metadata) {
  std::string bytes;
  nlohmann::json::to_msgpack(metadata, bytes);
  return bytes;
}

nlohmann::json kernels(nlohmann::json kernel) {
  kernel[".symbol"] = "k.kd";
  return {{"amdhsa.kernels", nlohmann::json::array({kernel})}};
}

nlohmann::json of_kind(const std::string& kind) {
  return kernels({{".name", "k"}, {".kind", kind}});
}

}  // namespace

TEST_CASE("an AMD binary whose kernels the driver would run by itself is refused") {
  CHECK(check_elf(amd_binary(packed(kernels({{".name", "k"}})))));
  CHECK(check_elf(amd_binary(packed(of_kind("normal")))));
  for (const char* kind : {"init", "fini", "", "Normal"}) {
    const Status refused = check_elf(amd_binary(packed(of_kind(kind))));
    INFO(kind);
    REQUIRE_FALSE(refused);
  }
  CHECK(check_elf(amd_binary(packed(of_kind("init")))).error().message ==
        "device binary: a kernel of the kind 'init', which the driver would run by itself; only "
        "kernels of the kind 'normal' may be in a binary");
  // A map with the key twice, of which a parser may take either value.
  std::string twice("\x82", 1);
  for (const char* kind : {"init", "normal"}) twice += packed(".kind") + packed(kind);
  CHECK_FALSE(check_elf(amd_binary(twice)));
  CHECK_FALSE(check_elf(amd_binary(packed(of_kind("normal")), 8)));
  CHECK_FALSE(check_elf(amd_binary("\xc1")));
  CHECK_FALSE(
      check_elf(amd_binary(std::string(4 << 20, '\x91'))));  // a list in a list in a list ...
  const std::string large =
      packed(kernels({{".kind", "normal"}, {".name", std::string(100'000, 'a')}}));
  CHECK(check_elf(amd_binary(large, 4, 2)));
  CHECK_FALSE(check_elf(amd_binary(large, 4, 3)));  // would be read three times
  std::string cut = amd_binary(packed(of_kind("normal")));
  const std::size_t note_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  cut[note_at + 4] = '\xff';  // the size of the metadata
  cut[note_at + 5] = '\xff';
  CHECK_FALSE(check_elf(cut));
}

namespace {

nlohmann::json argument(const std::string& kind, const nlohmann::json& offset,
                        const nlohmann::json& size) {
  return {{".value_kind", kind}, {".offset", offset}, {".size", size}};
}

Status with_args(const nlohmann::json& arguments, std::uint64_t room = 64) {
  return check_elf(amd_binary(
      packed(kernels({{".name", "k"}, {".args", arguments}, {".kernarg_segment_size", room}}))));
}

Status with_arguments(const std::vector<nlohmann::json>& arguments, std::uint64_t room = 64) {
  return with_args(arguments, room);
}

}  // namespace

TEST_CASE("an AMD binary whose kernels could call the host is refused") {
  const nlohmann::json pointer = argument("global_buffer", 0, 8);
  CHECK(with_arguments({pointer, argument("by_value", 8, 4), argument("hidden_grid_dims", 12, 2)}));
  for (const char* kind : {"hidden_hostcall_buffer", "hidden_printf_buffer", "hidden_heap_v1",
                           "hidden_default_queue", "queue", "sampler", "image", "pipe", ""}) {
    INFO(kind);
    CHECK_FALSE(with_arguments({pointer, argument(kind, 8, 8)}));
  }
  CHECK(
      with_arguments({argument("hidden_hostcall_buffer", 8, 8)}).error().message ==
      "device binary: a kernel with an argument of the kind 'hidden_hostcall_buffer': kernels may "
      "not call the host, and have no heap; leave out printf, assert and malloc, and let the "
      "compiler inline all functions");
  CHECK_FALSE(with_arguments({nlohmann::json{{".offset", 0}, {".size", 8}}}));  // without a kind
  CHECK_FALSE(with_args("text"));
  CHECK_FALSE(with_arguments({"text"}));
  CHECK_FALSE(check_elf(amd_binary(packed({{"amdhsa.kernels", "text"}}))));
  CHECK_FALSE(check_elf(amd_binary(packed({{"amdhsa.kernels", {"text"}}}))));
  CHECK_FALSE(check_elf(amd_binary(packed(nlohmann::json::array()))));
  // The notes of old binaries describe kernels in another format.
  CHECK_FALSE(check_elf(amd_binary("Kernels: []", 4, 1, 10)));
  // The real number of segments would be in a section.
  const auto with = [](const Elf64_Ehdr& header) {
    std::string many(sizeof header + PN_XNUM * sizeof(Elf64_Phdr), '\0');
    std::memcpy(many.data(), &header, sizeof header);
    return many;
  };
  Elf64_Ehdr header;
  std::memcpy(&header, amd_binary(packed(of_kind("normal"))).data(), sizeof header);
  header.e_phnum = 64;
  CHECK(check_elf(with(header)));
  header.e_phnum = 65;
  CHECK_FALSE(check_elf(with(header)));
  header.e_phnum = PN_XNUM;
  CHECK_FALSE(check_elf(with(header)));
}

// A cooperative launch reads an argument that the plan lacks behind the plan's arguments.
static_assert(2 * kMostAmdArgumentBytes <= hip::kHipArgumentRoomBytes);

TEST_CASE("arguments of an AMD binary that lie outside of the arguments' memory are refused") {
  CHECK(with_arguments({argument("by_value", 0, 64)}));
  CHECK(with_arguments({argument("by_value", 0, kMostAmdArgumentBytes)}, kMostAmdArgumentBytes));
  for (const auto& [offset, size] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {64, 1}, {0, 65}, {~0ULL, 8}, {8, ~0ULL}, {~0ULL, ~0ULL}})
    CHECK_FALSE(with_arguments({argument("by_value", offset, size)}));
  CHECK_FALSE(with_arguments({argument("by_value", 0, kMostAmdArgumentBytes + 1)}, ~0ULL));
  CHECK_FALSE(with_arguments({argument("by_value", -8, 8)}));
  CHECK_FALSE(with_arguments({argument("by_value", 0, "8")}));
  CHECK_FALSE(with_arguments({argument("by_value", "\xff", 8)}));  // no text in UTF-8
  CHECK_FALSE(with_arguments({argument("by_value", 0, nlohmann::json::array({"\xff"}))}));
  CHECK_FALSE(with_arguments({argument("\xff", 0, 8)}));
  CHECK_FALSE(with_arguments({argument("by_value", 0, 8)}, kMostAmdArgumentBytes + 1));
  // One that begins before the end of the one before it could reach further than the last one.
  CHECK_FALSE(with_arguments({argument("by_value", 0, 32), argument("by_value", 16, 8)}));
  CHECK(with_arguments({argument("by_value", 0, 16), argument("by_value", 16, 8)}));
  CHECK_FALSE(check_elf(amd_binary(
      packed(kernels({{".name", "k"}, {".args", {argument("by_value", 0, 8)}}})))));  // no size
}

TEST_CASE("a descriptor that differs from the metadata is refused") {
  const nlohmann::json told = kernels({{".group_segment_fixed_size", 1024},
                                       {".private_segment_fixed_size", 16},
                                       {".kernarg_segment_size", 40}});
  const std::string metadata = packed(told);
  const AmdParts same{.group_bytes = 1024, .private_bytes = 16, .argument_bytes = 40};
  const auto checked = [&](const std::function<void(AmdParts&)>& change) {
    AmdParts parts = same;
    change(parts);
    return check_elf(amd_binary(metadata, parts));
  };
  CHECK(checked([](AmdParts&) {}));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.group_bytes = 2048; }));
  const Status local = checked([](AmdParts& parts) { parts.private_bytes = 4096; });
  REQUIRE_FALSE(local);
  CHECK(local.error().message ==
        "device binary: the descriptor 'k.kd' has 4096 bytes of local memory, and the metadata "
        "have 16");
  CHECK_FALSE(checked([](AmdParts& parts) { parts.argument_bytes = 48; }));
  // Properties: the address of the packet, that of the queue, the number, and a dynamic stack.
  for (const int bit : {1, 2, 4, 7, 11, 15})
    CHECK_FALSE(checked([bit](AmdParts& parts) {
      parts.properties = static_cast<std::uint16_t>(parts.properties | 1 << bit);
    }));
  for (const int bit : {0, 5, 6, 10})
    CHECK(checked([bit](AmdParts& parts) {
      parts.properties = static_cast<std::uint16_t>(parts.properties | 1 << bit);
    }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.symbol = "j.kd"; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.symbol = "k"; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.symbol_type = STT_FUNC; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.symbol_bytes = 32; }));
  // The two tables must agree, and one segment must contain the whole descriptor.
  CHECK_FALSE(checked([](AmdParts& parts) { parts.other_address = 0x1001; }));
  for (const std::uint64_t address : {0xFC1ULL, 0x1001ULL, 0x2000ULL, ~0ULL, ~0ULL - 63})
    CHECK_FALSE(
        checked([address](AmdParts& parts) { parts.address = parts.other_address = address; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.loaded_bytes = 63; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.loads = 0; }));
  // One reader finds the descriptor by its section, another one by its segment.
  CHECK_FALSE(checked([](AmdParts& parts) { parts.section_address = 0xFF0; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.section_bytes = 63; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.section_address = ~0ULL - 16; }));
  for (const int section : {0, 1, 6, 0xFFF1})
    CHECK_FALSE(checked(
        [section](AmdParts& parts) { parts.section = static_cast<std::uint16_t>(section); }));
  // A relocation would change the descriptor when the binary is loaded, or other memory.
  for (const std::uint64_t at :
       {0xFF9ULL, 0x1000ULL, 0x1038ULL, 0x1039ULL, 0x1040ULL, 0x2039ULL, 0x3000ULL, 0ULL, ~0ULL})
    CHECK_FALSE(checked([at](AmdParts& parts) { parts.relocation = at; }));
  for (const std::uint64_t at : {0x2000ULL, 0x2038ULL})
    CHECK(checked([at](AmdParts& parts) { parts.relocation = at; }));
  CHECK_FALSE(checked([](AmdParts& parts) { parts.relocations = SHT_REL; }));
}

namespace {

/// Checks a binary with a kernel without any memory after `change` has changed its parts.
Status with_change(const std::function<void(AmdParts&)>& change) {
  AmdParts parts;
  change(parts);
  return check_elf(amd_binary(packed(kernels(nlohmann::json::object())), parts));
}

}  // namespace

TEST_CASE("segments that a loader would copy beside their memory are refused") {
  CHECK(with_change([](AmdParts&) {}));
  CHECK(with_change([](AmdParts& parts) { parts.memory_bytes = 4096; }));
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.memory_bytes = 63; }));  // of 64 in the file
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.memory_bytes = ~0ULL; }));
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.memory_bytes = 2ULL << 30; }));
  CHECK(with_change([](AmdParts& parts) { parts.second_address = parts.relocation = 0x1040; }));
  for (const std::uint64_t address : {0ULL, 0xFC0ULL, 0x1000ULL, 0x103FULL, 0x8000'0000ULL, ~0ULL})
    CHECK_FALSE(with_change([address](AmdParts& parts) { parts.second_address = address; }));
  CHECK(with_change([](AmdParts& parts) { parts.loads = 63; }));
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.loads = 64; }));  // and the note's
}

TEST_CASE("symbols that two readers would understand in two ways are refused") {
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.names = 6; }));
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.names = 0x10001; }));  // 1 in 16 bits
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.names = 4; }));        // no names
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.name_end = ""; }));
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.name_end = std::string("\0x", 2); }));
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.tables = SHT_DYNSYM; }));
  CHECK(with_change([](AmdParts& parts) { parts.tables = SHT_NULL; }));  // only one table
  CHECK_FALSE(with_change([](AmdParts& parts) { parts.symbol = std::string(5000, 'x'); }));
  // A reader of older documents would look at another list.
  nlohmann::json old = kernels(nlohmann::json::object());
  old["Kernels"] = nlohmann::json::array();
  CHECK_FALSE(check_elf(amd_binary(packed(old), AmdParts{})));
}

TEST_CASE("a kernel has one description and a symbol") {
  nlohmann::json twice = kernels({{".private_segment_fixed_size", 0}});
  twice["amdhsa.kernels"].push_back(twice["amdhsa.kernels"][0]);
  CHECK(check_elf(amd_binary(packed(twice))));
  twice["amdhsa.kernels"][1][".private_segment_fixed_size"] = 16;
  CHECK_FALSE(check_elf(amd_binary(packed(twice))));
  const nlohmann::json without = {{"amdhsa.kernels", {{{".name", "k"}}}}};
  CHECK_FALSE(check_elf(amd_binary(packed(without))));
}
