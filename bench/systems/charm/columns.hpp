// A chare array for each graph, a chare for each column of it, and its elements as Charm++ deals them out: in
// blocks. A task runs when the last of its inputs has come, each in a message, and its output leaves in as
// many messages as there are readers. Messages that have been read carry the next outputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "columns.decl.h"
#include "teff/bench/failure.hpp"
#include "teff/graphs/workload.hpp"

using namespace teff::bench;
using namespace teff::graphs;

/// The output of a task on its way to one that reads it.
class output : public CMessage_output {
 public:
  std::int64_t timestep;
  std::int64_t point;
  std::byte* bytes;
};

/// The workload that runs now: all chares of this process read it.
inline workload* running = nullptr;

/// The adapter refuses outputs that no message can hold: Charm++ counts a message's bytes as int, with its
/// header.
inline void check_outputs(const workload& work) {
  constexpr std::int64_t most_bytes = std::numeric_limits<int>::max() - 4096;
  for (std::size_t i = 0; i < work.graphs(); ++i)
    if (work.graph(i).output_bytes > most_bytes)
      throw usage_error("-output " + std::to_string(work.graph(i).output_bytes) +
                        " is more than a message of Charm++ holds");
}

/// The inputs of a task that have come, each at its place.
struct arrivals {
  std::vector<output*> messages;
  std::int64_t count = 0;
};

/// How many points of the range are before this one, which is one of them.
inline std::size_t place_in(const point_range& all, std::int64_t point) {
  std::int64_t before = 0;
  for (const interval& each : all.intervals()) {
    const interval points = each.clipped_to(all.bounds());
    if (points.contains(point)) return static_cast<std::size_t>(before + point - points.first);
    before += points.size();
  }
  return static_cast<std::size_t>(before);
}

class column : public CBase_column {
 public:
  column(int graph, CkCallback finished)
      : graph_(static_cast<std::size_t>(graph)),
        table_(running->table(graph_)),
        finished_(std::move(finished)) {}
  ~column() override {
    for (output* each : spare_) delete each;
  }
  column(const column&) = delete;
  column& operator=(const column&) = delete;

  void begin() {
    has_begun_ = true;
    advance();
  }
  void take(output* one) {
    keep(one);
    advance();
  }

 private:
  /// Executes the tasks whose inputs are all here.
  void advance() {
    if (!has_begun_) return;
    for (; timestep_ < table_.graph().steps; ++timestep_) {
      if (ahead_.empty()) ahead_.emplace_back();
      if (table_.points(timestep_).contains(thisIndex)) {
        if (ahead_.front().count < table_.inputs(timestep_, thisIndex).size()) return;
        execute();
      }
      ahead_.push_back(std::move(ahead_.front()));  // empty again, and with room
      ahead_.pop_front();
    }
    contribute(finished_);
  }

  void execute() {
    arrivals& here = ahead_.front();
    const auto bytes = static_cast<std::size_t>(table_.graph().output_bytes);
    inputs_.clear();
    for (const output* each : std::span(here.messages).first(static_cast<std::size_t>(here.count)))
      inputs_.emplace_back(each->bytes, bytes);
    output* const made = blank();
    running->worker(CkMyRank()).execute(graph_, timestep_, thisIndex, {made->bytes, bytes}, inputs_);
    for (output* each : std::span(here.messages).first(static_cast<std::size_t>(here.count))) put_by(each);
    here.count = 0;
    send(made);
  }

  /// No more than a task needs: some columns receive more than they send.
  void put_by(output* one) {
    if (spare_.size() <= table_.max_consumers()) {
      spare_.push_back(one);
    } else {
      delete one;
    }
  }
  output* blank() {
    output* one = nullptr;
    if (spare_.empty()) {
      one = new (static_cast<int>(table_.graph().output_bytes)) output;
    } else {
      one = spare_.back();
      spare_.pop_back();
    }
    one->timestep = timestep_;
    one->point = thisIndex;
    return one;
  }

  void send(output* made) {
    const point_range readers = table_.consumers(timestep_, thisIndex);
    bool reads_itself = false;
    for (const std::int64_t reader : readers) {
      if (reader == thisIndex) {
        reads_itself = true;
        continue;
      }
      output* const one = blank();
      std::memcpy(one->bytes, made->bytes, static_cast<std::size_t>(table_.graph().output_bytes));
      thisProxy[static_cast<int>(reader)].take(one);
    }
    if (reads_itself) {
      keep(made);
    } else {
      put_by(made);
    }
  }

  void keep(output* one) {
    const std::int64_t reads = one->timestep + 1;
    const auto later = static_cast<std::size_t>(reads - timestep_);
    while (ahead_.size() <= later) ahead_.emplace_back();
    arrivals& of = ahead_[later];
    const std::size_t place = place_in(table_.inputs(reads, thisIndex), one->point);
    if (of.messages.size() <= place) of.messages.resize(place + 1);
    of.messages[place] = one;
    ++of.count;
  }

  std::size_t graph_;
  const dependence_table& table_;
  CkCallback finished_;
  bool has_begun_ = false;
  std::int64_t timestep_ = 0;
  std::deque<arrivals> ahead_;  ///< of this timestep and those after it
  std::vector<input> inputs_;
  std::vector<output*> spare_;  ///< messages that have been read
};
