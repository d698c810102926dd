#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

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
