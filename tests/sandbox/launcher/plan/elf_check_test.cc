#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sandbox/launcher/driver/hip_arguments.h"
#include "sandbox/launcher/plan/plan_check.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

std::string elf_program() {
  std::ifstream file("/bin/true", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Elf64_Ehdr header_of(const std::string& image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  return header;
}

std::string with_header(std::string image, const Elf64_Ehdr& header) {
  std::memcpy(image.data(), &header, sizeof(header));
  return image;
}

}  // namespace

TEST_CASE("a real ELF file passes, and a truncated one does not") {
  const std::string image = elf_program();
  REQUIRE(image.size() > 10'000);
  CHECK(check_elf(image));
  CHECK(check_elf(test::tiny_elf()));
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{63}, std::size_t{64},
                                 image.size() / 2, image.size() - 1}) {
    INFO(size);
    CHECK_FALSE(check_elf(image.substr(0, size)));
  }
}

TEST_CASE("forged tables are refused") {
  const std::string image = elf_program();
  Elf64_Ehdr header = header_of(image);
  SECTION("section headers far away") { header.e_shoff = ~0ULL - 8; }
  SECTION("section headers of another size") { header.e_shentsize = 8; }
  SECTION("a section table without a count") { header.e_shnum = 0; }
  SECTION("names in a section that is not there") { header.e_shstrndx = header.e_shnum; }
  SECTION("program headers far away") { header.e_phoff = image.size(); }
  SECTION("program headers of another size") { header.e_phentsize = 1; }
  SECTION("32 bits") { header.e_ident[EI_CLASS] = ELFCLASS32; }
  SECTION("big endian") { header.e_ident[EI_DATA] = ELFDATA2MSB; }
  CHECK_FALSE(check_elf(with_header(image, header)));
}

TEST_CASE("a section outside the file is refused") {
  std::string image = elf_program();
  const Elf64_Ehdr header = header_of(image);
  Elf64_Shdr section;
  char* place = image.data() + header.e_shoff + sizeof(section);
  std::memcpy(&section, place, sizeof(section));
  section.sh_size = ~0ULL;
  std::memcpy(place, &section, sizeof(section));
  const Status status = check_elf(image);
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "device binary: section 1 lies outside");
}

namespace {

/// Returns an AMD binary whose only contents are a note with this metadata.
/// `segments` headers name the note.
std::string amd_binary(const std::string& metadata, std::uint64_t alignment = 4,
                       std::uint16_t segments = 1, std::uint32_t type = kAmdMetadataNote) {
  Elf64_Nhdr note{
      .n_namesz = 7, .n_descsz = static_cast<Elf64_Word>(metadata.size()), .n_type = type};
  std::string notes(reinterpret_cast<const char*>(&note), sizeof note);
  notes += std::string("AMDGPU\0\0", 8) + metadata;
  notes.resize((notes.size() + 3) / 4 * 4);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = kAmdMachine;
  header.e_phnum = segments;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = sizeof header;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + segments * sizeof segment;
  segment.p_filesz = notes.size();
  segment.p_align = alignment;
  std::string image(reinterpret_cast<const char*>(&header), sizeof header);
  for (int i = 0; i < segments; ++i)
    image.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return image + notes;
}

std::string packed(const nlohmann::json& metadata) {
  std::string bytes;
  nlohmann::json::to_msgpack(metadata, bytes);
  return bytes;
}

nlohmann::json kernels(const nlohmann::json& kernel) {
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
  cut[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 4] = '\xff';  // the size of the metadata
  cut[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 5] = '\xff';
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
  const std::string many(sizeof(Elf64_Ehdr) + PN_XNUM * sizeof(Elf64_Phdr), '\0');
  Elf64_Ehdr header = header_of(amd_binary(packed(of_kind("normal"))));
  header.e_phnum = PN_XNUM - 1;
  CHECK(check_elf(with_header(many, header)));
  header.e_phnum = PN_XNUM;
  CHECK_FALSE(check_elf(with_header(many, header)));
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

TEST_CASE("random headers never cause a read outside of the image") {
  std::mt19937 random(7);
  std::string image(4096, '\0');
  for (int round = 0; round < 20'000; ++round) {
    for (std::size_t i = 16; i < sizeof(Elf64_Ehdr); ++i)
      image[i] = static_cast<char>(random() % 3 == 0 ? random() : 0);
    const std::string tiny = test::tiny_elf();
    std::memcpy(image.data(), tiny.data(), 16);
    Elf64_Ehdr header = header_of(image);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    (void)check_elf(with_header(image, header));
  }
}

TEST_CASE("variables that keep their values count, and memory of one block does not") {
  CHECK(writable_globals(test::tiny_elf()) == 0);
  CHECK(writable_globals(test::elf_with_section(".nv.global", 4096)) == 4096);
  CHECK(writable_globals(test::elf_with_section(".nv.global.init", 6)) == 6);
  CHECK(writable_globals(test::elf_with_section(".bss", 64)) == 64);  // as in an hsaco
  CHECK(writable_globals(test::elf_with_section(".nv.shared.kernel", 1024)) == 0);
  CHECK(writable_globals(test::elf_with_section(".nv.merc.nv.shared.reserved.0", 16)) == 0);
  CHECK(writable_globals(test::elf_with_section(".nv.global.nv.shared", 8)) == 8);
}

TEST_CASE("a function that is no kernel is found in the table of symbols") {
  CHECK_FALSE(has_device_functions(test::tiny_elf()));
  CHECK_FALSE(has_device_functions(test::elf_with_section(".nv.global", 4096)));
  const std::string kernel = test::elf_with_function(0x10), function = test::elf_with_function(0);
  REQUIRE(check_elf(kernel));
  REQUIRE(check_elf(function));
  CHECK_FALSE(has_device_functions(kernel));
  CHECK(has_device_functions(function));
}
