#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "sandbox/launcher/plan/plan_check.h"

namespace assay::sandbox {
namespace {

// The bit in st_other that marks the symbol of a kernel in a cubin (STO_CUDA_ENTRY).
constexpr unsigned char kKernelSymbol = 0x10;

tl::unexpected<Error> refuse(const std::string& reason) {
  return fail(ErrorCode::invalid_argument, "device binary: " + reason);
}

bool inside(std::uint64_t offset, std::uint64_t bytes, std::size_t size) {
  return offset <= size && bytes <= size - offset;
}

/// Returns element number `entry` of a table. The caller has checked that the table is inside the
/// image.
template <class T>
T entry_at(std::string_view image, std::uint64_t table, std::uint64_t entry) {
  T value;
  std::memcpy(&value, image.data() + table + entry * sizeof(T), sizeof(T));
  return value;
}

/// Returns a section's name, or an empty text if the name is not inside the file.
std::string_view name_of(std::string_view image, const Elf64_Ehdr& header,
                         const Elf64_Shdr& section) {
  if (header.e_shstrndx == SHN_UNDEF) return {};
  const auto names = entry_at<Elf64_Shdr>(image, header.e_shoff, header.e_shstrndx);
  if (names.sh_type == SHT_NOBITS || section.sh_name >= names.sh_size) return {};
  const std::string_view text =
      image.substr(names.sh_offset + section.sh_name, names.sh_size - section.sh_name);
  return text.substr(0, text.find('\0'));
}

/// Returns true if a section of this name describes memory that each block or thread gets for
/// itself. The image declares such memory but does not contain its bytes.
bool is_transient(std::string_view name) {
  return name.find(".nv.shared") != name.npos || name.find(".nv.local") != name.npos;
}

}  // namespace

std::uint64_t writable_globals(std::string_view image) {
  const auto header = entry_at<Elf64_Ehdr>(image, 0, 0);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = entry_at<Elf64_Shdr>(image, header.e_shoff, i);
    const std::string_view name = name_of(image, header, section);
    const bool writable =
        (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_WRITE) != 0;
    if (name.starts_with(".nv.global") || (writable && !is_transient(name)))
      bytes = std::max(bytes, bytes + section.sh_size);
  }
  return bytes;
}

bool has_device_functions(std::string_view image) {
  const auto header = entry_at<Elf64_Ehdr>(image, 0, 0);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = entry_at<Elf64_Shdr>(image, header.e_shoff, i);
    if (section.sh_type != SHT_SYMTAB) continue;
    for (std::uint64_t j = 0; j < section.sh_size / sizeof(Elf64_Sym); ++j) {
      const auto symbol = entry_at<Elf64_Sym>(image, section.sh_offset, j);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kKernelSymbol) == 0)
        return true;
    }
  }
  return false;
}

Status check_elf(std::string_view image) {
  if (image.size() < sizeof(Elf64_Ehdr) || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0)
    return refuse("no ELF file (cubin or hsaco)");
  const auto header = entry_at<Elf64_Ehdr>(image, 0, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return refuse("no 64-bit little-endian ELF file");
  if (header.e_phnum > 0) {
    if (header.e_phentsize != sizeof(Elf64_Phdr))
      return refuse("program headers of " + std::to_string(header.e_phentsize) + " bytes");
    if (!inside(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), image.size()))
      return refuse("the program headers lie outside");
  }
  if (header.e_shoff != 0 || header.e_shnum > 0) {
    if (header.e_shentsize != sizeof(Elf64_Shdr))
      return refuse("section headers of " + std::to_string(header.e_shentsize) + " bytes");
    // If e_shnum is 0, section 0 contains the number of sections. Only files with very many
    // sections use this form, so it is rejected.
    if (header.e_shnum == 0) return refuse("a section table without a count");
    if (!inside(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), image.size()))
      return refuse("the section headers lie outside");
    if (header.e_shstrndx >= header.e_shnum) return refuse("the section names are in no section");
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = entry_at<Elf64_Phdr>(image, header.e_phoff, i);
    if (!inside(segment.p_offset, segment.p_filesz, image.size()))
      return refuse("segment " + std::to_string(i) + " lies outside");
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = entry_at<Elf64_Shdr>(image, header.e_shoff, i);
    const bool in_file = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    if (in_file && !inside(section.sh_offset, section.sh_size, image.size()))
      return refuse("section " + std::to_string(i) + " lies outside");
  }
  return check_amd_kernels(image);
}

}  // namespace assay::sandbox
