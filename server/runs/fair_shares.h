// FairShares decides whose job is next when several members share a device. Waiting members get
// shares of the device's time by their weights, which are equal unless add() says otherwise. They
// do not get shares of the number of jobs. So a member with short jobs does
// not have to wait for a long job of another member before each of its jobs. JobQueue
// (device_queue.h) uses one object for the principals, and one for the runs of each principal.
//
//   FairShares members;
//   members.add("alice");
//   members.add("bob");
//   members.take(*members.next(), 800);  // a job of alice, which is expected to take 800 ms
//   members.next();                      // "bob"
//
// The algorithm is fair queuing by virtual time. Each member has a virtual time up to which it was
// served, and the member with the earliest time is served next. When a job is taken, the member's
// time advances by the job's expected duration, divided by the member's weight. When the job has
// ended, correct() adds the difference to its real duration. The queue has a virtual time too. When
// a job is taken, the queue's time is first raised to the time of the job's member, if that time is
// later. Then it advances by the same expected duration, divided by the sum of the weights of the
// waiting members. A new member
// starts at the queue's time. A member that was already served beyond the queue's time starts at
// its own time. So a member gets no credit for the time in which it had no jobs. And new members,
// however many, do not keep an earlier member waiting. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace assay::server {

class FairShares {
 public:
  /// Adds a waiting job to the member. The weight must be above 0.
  void add(const std::string& member, double weight = 1);
  /// Returns the member whose job is next, or nothing if no job waits. With `may`, returns a member
  /// for which it is true.
  std::optional<std::string> next(
      const std::function<bool(const std::string& member)>& may = nullptr) const;
  /// Removes a waiting job of the member because the device gets it. The member must have one.
  void take(const std::string& member, double expected_ms);
  /// Removes a waiting job of the member because it will not run. The member must have one.
  void remove(const std::string& member);
  /// Charges the member for `more_ms` more than take() did. May be negative.
  void correct(const std::string& member, double more_ms, double weight = 1);

  bool empty() const { return members_.empty(); }
  /// Returns the number of members without waiting jobs whose virtual times this object remembers.
  /// It is 0 if no job waits.
  std::size_t remembered() const { return ahead_.size(); }

 private:
  struct Member {
    std::string name;
    double served_ms;  // divided by the weight
    std::size_t jobs;  // never 0
    double weight;
  };
  using Members = std::list<Member>;

  Members::iterator find(const std::string& member);
  /// Removes one job of the member. If it was the last job, also removes the member and remembers
  /// its time.
  void drop_job(Members::iterator member);

  // The members with waiting jobs. A member is added at the end, and moves to the end when one of
  // its jobs is taken.
  Members members_;
  double now_ms_ = 0;  // the time at which a new member starts
  // The virtual times of members without waiting jobs, by member. A time that is not later than
  // now_ms_ has no effect, because such a member starts at now_ms_. drop_job() removes these times.
  std::map<std::string, double> ahead_;
};

}  // namespace assay::server
