// Checks the trace of a job of several ranks.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace teff::test {

// Reads a trace, and checks all that Perfetto relies on.
class rank_trace {
 public:
  rank_trace(const nlohmann::json& file, int ranks) {
    lost_ = file["otherData"]["lost_events"].get<std::uint64_t>();
    if (lost_ != 0) fault("events are lost");
    for (const auto& each : file["traceEvents"]) read(each);
    for (int rank = 0; rank < ranks; ++rank) {
      if (!errors_.contains(rank + 1)) fault("rank " + std::to_string(rank) + " is missing");
      if (names_[rank + 1].rfind("rank " + std::to_string(rank) + " on ", 0) != 0)
        fault("the name of a process is " + names_[rank + 1]);
    }
    if (errors_.size() != static_cast<std::size_t>(ranks)) fault("there are other processes");
    for (const auto& [number, ends] : arrows_) look_at(number, ends);
    for (const auto& [number, ends] : requests_)
      if (ends.size() != 2 || ends[0] > ends[1]) fault("request " + number + " does not begin and end once");
  }

  // The first faults; empty if there are none.
  [[nodiscard]] const std::string& faults() const noexcept { return faults_; }
  // The number of arrows of messages, also of messages from a rank to itself.
  [[nodiscard]] std::size_t messages() const noexcept { return arrows_.size(); }
  // The number of operations of MPI that tasks have begun.
  [[nodiscard]] std::size_t requests() const noexcept { return requests_.size(); }
  [[nodiscard]] std::size_t messages_between_ranks() const noexcept { return between_ranks_; }
  // The last value of a counter, added up over all ranks.
  [[nodiscard]] double counted(const std::string& what) const {
    double sum = 0;
    for (const auto& [which, value] : counters_) sum += which.second == what ? value : 0;
    return sum;
  }
  [[nodiscard]] const std::map<int, std::string>& clocks() const noexcept { return clocks_; }
  // A count of one path (own, near, far), added up over all communicators of all ranks.
  [[nodiscard]] std::uint64_t sent(const std::string& path, const std::string& what) const {
    std::uint64_t sum = 0;
    for (const auto& each : told_) sum += each[path][what].get<std::uint64_t>();
    return sum;
  }
  [[nodiscard]] std::uint64_t handled() const {
    std::uint64_t sum = 0;
    for (const auto& each : told_) sum += each["handled"].get<std::uint64_t>();
    return sum;
  }

 private:
  using event = nlohmann::json;
  struct end {
    int process;
    int thread;
    std::int64_t at;
  };
  struct arrow {
    std::vector<end> from;
    std::vector<end> to;
  };
  struct slice {
    std::int64_t began;
    std::int64_t ended;
  };

  static std::int64_t nanoseconds(const event& microseconds) {
    return std::llround(microseconds.get<double>() * 1000);
  }
  void fault(const std::string& what) {
    if (faults_.size() < 1000) faults_ += what + "\n";
  }
  void read(const event& each) {
    const auto kind = each["ph"].get<std::string>();
    const int process = each["pid"];
    if (kind == "M") {
      if (each["name"] == "messages") told_.push_back(each["args"]);
      if (each["name"] == "process_name") names_[process] = each["args"]["name"];
      if (each["name"] == "rank") {
        if (errors_.contains(process)) fault("a rank is there twice");
        errors_[process] = each["args"]["error_ns"];
        clocks_[process - 1] = each["args"]["clock"];
      }
      return;
    }
    const auto at = nanoseconds(each["ts"]);
    if (at < 0) fault("an event before all time");
    if (kind == "C") {
      if (each["cat"] != "message") return;  // the capacity of a worker
      const std::pair which(process, each["name"].get<std::string>());
      const double value = each["args"]["messages"];
      if (value <= counters_[which]) fault("a counter falls");
      counters_[which] = value;
      return;
    }
    const int thread = each["tid"];
    if (kind == "X") {
      slices_[{process, thread}].push_back({at, at + nanoseconds(each["dur"])});
    } else if (kind == "b" || kind == "e") {
      requests_[each["id"]].push_back(at);
    } else if (kind != "i" && each["cat"] == "message") {
      auto& ends = arrows_[each["id"]];
      (kind == "s" ? ends.from : ends.to).push_back({process, thread, at});
    }
  }
  void look_at(const std::string& number, const arrow& ends) {
    if (ends.from.size() != 1 || ends.to.size() != 1)
      return fault("message " + number + " leaves " + std::to_string(ends.from.size()) + " times and comes " +
                   std::to_string(ends.to.size()) + " times");
    const auto& [from, to] = std::pair(ends.from[0], ends.to[0]);
    between_ranks_ += from.process != to.process ? 1 : 0;
    if (to.at < from.at - errors_[from.process] - errors_[to.process])
      fault("message " + number + " comes " + std::to_string(from.at - to.at) + " ns before it is sent");
    for (const auto& each : {from, to}) {
      bool within = false;
      for (const auto& one : slices_[{each.process, each.thread}])
        within = within || (one.began <= each.at && each.at <= one.ended);
      if (!within) fault("an end of message " + number + " lies in no slice");
    }
  }

  std::string faults_;
  std::uint64_t lost_ = 0;
  std::size_t between_ranks_ = 0;
  std::map<int, std::string> names_;    // by process
  std::map<int, std::int64_t> errors_;  // by process: error of its clock
  std::map<int, std::string> clocks_;   // by rank
  std::map<std::pair<int, int>, std::vector<slice>> slices_;
  std::map<std::pair<int, std::string>, double> counters_;
  std::map<std::string, arrow> arrows_;
  std::map<std::string, std::vector<std::int64_t>> requests_;  // when it began and ended
  std::vector<event> told_;
};

}  // namespace teff::test
