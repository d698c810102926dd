// JudgeAssignment: which of a GPU's judges a job has. All jobs of an operator have the same one,
// since PyTorch takes its time for whatever it runs for the first time; an operator that comes for
// the first time gets the judge with the fewest jobs at work, so that agents that go through the
// operators together do not meet at one judge while others are idle.
//
//   JudgeChoice choice(4);
//   const JudgeAssignment::Hold hold = choice.take("softmax");
//   judges[hold.index()]->prepare(...);
//
// Thread-safe. Never waits.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace assay::sandbox {

class JudgeAssignment {
 public:
  /// Counts as a job at work until it goes.
  class Hold {
   public:
    Hold(JudgeAssignment& choice, std::size_t index) : choice_(choice), index_(index) {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { choice_.give_back(index_); }
    std::size_t index() const { return index_; }

   private:
    JudgeAssignment& choice_;
    const std::size_t index_;
  };

  /// `judges`: how many there are, one at least.
  explicit JudgeAssignment(std::size_t judges) : judges_(judges) {}
  Hold take(const std::string& operator_name);

 private:
  struct Load {
    int jobs = 0;       // at work
    int operators = 0;  // that are always his
  };
  void give_back(std::size_t index);

  std::mutex mutex_;
  std::vector<Load> judges_;
  std::map<std::string, std::size_t> of_operator_;
};

}  // namespace assay::sandbox
