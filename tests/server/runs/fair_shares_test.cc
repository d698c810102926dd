#include "server/runs/fair_shares.h"

#include <algorithm>
#include <string>

#include "tests/catch.h"

namespace assay::server {

TEST_CASE("members with waiting jobs take turns by the time that they got") {
  FairShares members;
  CHECK_FALSE(members.next());
  for (const char* name : {"long", "short", "short", "short"}) members.add(name);
  members.add("long");
  std::string order;
  while (const auto next = members.next()) {
    order += next->front();
    members.take(*next, *next == "long" ? 200 : 100);
  }
  CHECK(order == "lssls");
  CHECK(members.empty());
  CHECK(members.remembered() == 0);
}

TEST_CASE("a longer time than expected counts, also after the member's last job") {
  FairShares members;
  for (const char* name : {"a", "b", "b", "b"}) members.add(name);
  members.take("a", 100);
  members.correct("a", 150);
  members.add("a");
  members.take("b", 100);
  members.take("b", 100);
  CHECK(*members.next() == "b");  // b got 200 ms, a 250 ms
}

TEST_CASE("a member's part of the time is in proportion to its weight") {
  FairShares members;
  for (int i = 0; i < 9; ++i) members.add("heavy", 3);
  for (int i = 0; i < 9; ++i) members.add("light", 1);
  std::string order;
  for (int i = 0; i < 8; ++i) {
    const std::string next = *members.next();
    order += next.front();
    members.take(next, 100);
  }
  CHECK(std::count(order.begin(), order.end(), 'h') == 6);
  members.correct("heavy", 300, 3);  // as much as one job of `light`
  CHECK(*members.next() == "light");
}

TEST_CASE("a member that may not be next is passed over") {
  FairShares members;
  for (const char* name : {"a", "b"}) members.add(name);
  CHECK(*members.next([](const std::string& name) { return name == "b"; }) == "b");
  CHECK_FALSE(members.next([](const std::string&) { return false; }));
}

TEST_CASE("a removed job costs nothing") {
  FairShares members;
  for (const char* name : {"a", "a", "b"}) members.add(name);
  members.remove("a");
  CHECK(*members.next() == "a");
  members.remove("a");
  CHECK(*members.next() == "b");
}

}  // namespace assay::server
