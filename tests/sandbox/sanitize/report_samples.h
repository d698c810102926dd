// Reports of Compute Sanitizer, as `--xml --save` writes them.
//
// NVIDIA publishes no schema. kStrayRead follows a report of version 2026.2, parts of which are
// public, but uses the element names of version 2026.4. The other samples contain the text of
// reports in the documentation, in the same elements. None of the samples comes from real hardware.
#pragma once

#include <string>

namespace assay::sandbox::testing {

inline std::string report_of(const std::string& records) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>" + records +
         "</ComputeSanitizerOutput>\n";
}

/// Line 3 of the submission reads one element too many.
inline const std::string kStrayRead = R"(
  <record>
    <kind>Precise</kind>
    <level>Error</level>
    <who>
      <threadIdx><x>1</x><y>2</y><z>3</z></threadIdx>
      <blockIdx><x>4</x><y>5</y><z>6</z></blockIdx>
    </who>
    <what>
      <text>Invalid __global__ read of size 4 bytes: Access is out of bounds</text>
      <space>__global__</space>
      <size>4</size>
      <direction>read</direction>
      <error>out of bounds</error>
      <accessAddress>0x7f65dc000fa0</accessAddress>
    </what>
    <where><func>add_kernel(float*, float*)</func><path>/tmp/job/submission.py</path><line>3</line><pc>0xe0</pc></where>
    <hostStack><saveLocation>kernel launch time</saveLocation>
      <frame><func>main</func><path>main.cc</path><line>99</line></frame></hostStack>
  </record>)";

inline const std::string kSharedRace = R"(
  <record>
    <kind>Analysis</kind>
    <level>Error</level>
    <what><text>Race reported between Write access and Read access [508 hazards]</text></what>
    <access><where><func>sum_kernel</func><path>submission.cu</path><line>2</line><pc>0x90</pc></where></access>
    <access><where><func>sum_kernel</func><path>submission.cu</path><line>3</line><pc>0x100</pc></where></access>
  </record>)";

inline const std::string kUnwritten = R"(
  <record>
    <kind>Initcheck</kind>
    <level>Error</level>
    <who>
      <threadIdx><x>31</x><y>0</y><z>0</z></threadIdx>
      <blockIdx><x>1</x><y>0</y><z>0</z></blockIdx>
    </who>
    <what><text>Uninitialized __global__ memory read of size 4 bytes</text><address>0x7f3c7ec000fc</address></what>
    <where><func>sum_kernel</func><path>/lib/triton/language/standard.py</path><line>290</line></where>
  </record>)";

inline const std::string kDivergentBarrier = R"(
  <record>
    <kind>Synccheck</kind>
    <level>Error</level>
    <what><text>Barrier error detected. Divergent thread(s) in block.</text></what>
    <where><func>sum_kernel</func></where>
  </record>)";

}  // namespace assay::sandbox::testing
