#include "teff/graphs/rank_columns.hpp"

#include <algorithm>
#include <map>

namespace teff::graphs {
namespace {

constexpr auto not_kept = static_cast<std::uint32_t>(-1);

}  // namespace

partition::partition(std::int64_t width, int workers, int ranks) {
  for (std::int64_t rank = 0; rank <= ranks; ++rank)
    first_.push_back(rank * workers / ranks * width / workers);
}

interval partition::columns_of(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return {first_[at], first_[at + 1] - 1};
}

int partition::owner(std::int64_t point) const {
  return static_cast<int>(std::ranges::upper_bound(first_, point) - first_.begin()) - 1;
}

rank_columns::rank_columns(const dependence_table& table, const partition& blocks, int rank)
    : table_(&table),
      own_(blocks.columns_of(rank)),
      bytes_(static_cast<std::size_t>(table.graph().output_bytes)),
      plans_(static_cast<std::size_t>(table.graph().dependence_sets())),
      slot_(static_cast<std::size_t>(table.graph().width), not_kept) {
  const auto slot_of = [&](std::int64_t point) -> std::uint32_t& {
    return slot_[static_cast<std::size_t>(point)];
  };
  for (std::int64_t point = own_.first; point <= own_.last; ++point)
    slot_of(point) = static_cast<std::uint32_t>(slots_++);
  for (std::size_t set = 0; set < plans_.size(); ++set) {
    plan& each = plans_[set];
    add_sends(each, static_cast<std::int64_t>(set), blocks);
    add_receives(each, static_cast<std::int64_t>(set), blocks);
    for (const crossing& message : each.receives) {
      if (slot_of(message.point) != not_kept) continue;
      slot_of(message.point) = static_cast<std::uint32_t>(slots_++);
      remote_.push_back(message);
    }
    max_sends_ = std::max(max_sends_, each.sends.size());
    max_receives_ = std::max(max_receives_, each.receives.size());
  }
  memory_ = std::make_unique<std::byte[]>(2 * slots_ * bytes_);
  inputs_.emplace(table, own_, 2, std::bind_front(&rank_columns::collect, this));
}

void rank_columns::add_sends(plan& to, std::int64_t set, const partition& blocks) {
  const task_graph& graph = table_->graph();
  std::vector<std::int64_t> silent;
  for (std::int64_t point = own_.first; point <= own_.last; ++point) {
    std::map<int, interval> readers;  // the peers in order, and the columns with which they read it
    auto add = [&](interval consumers) {
      for (std::int64_t each = consumers.first; each <= consumers.last; ++each) {
        if (own_.contains(each)) continue;
        interval& known = readers.try_emplace(blocks.owner(each), interval{each, each}).first->second;
        known = {std::min(known.first, each), std::max(known.last, each)};
      }
    };
    graph.pattern->reverse_dependencies(graph, set, point, interval_sink(add));
    to.first_send.push_back(to.sends.size());
    for (const auto& [peer, consumers] : readers)
      to.sends.push_back({point, consumers, peer, static_cast<int>(point - own_.first)});
    (readers.empty() ? silent : to.order).push_back(point);
  }
  to.first_send.push_back(to.sends.size());
  to.order.insert(to.order.end(), silent.begin(), silent.end());
}

void rank_columns::add_receives(plan& to, std::int64_t set, const partition& blocks) {
  const task_graph& graph = table_->graph();
  std::map<std::int64_t, interval> read;  // the points of others, and what reads them here
  for (std::int64_t point = own_.first; point <= own_.last; ++point) {
    auto add = [&](interval inputs) {
      for (std::int64_t each = inputs.first; each <= inputs.last; ++each)
        if (!own_.contains(each)) read.try_emplace(each, interval{point, point}).first->second.last = point;
    };
    graph.pattern->dependencies(graph, set, point, interval_sink(add));
  }
  for (const auto& [point, consumers] : read) {
    const int peer = blocks.owner(point);
    const auto tag = static_cast<int>(point - blocks.columns_of(peer).first);
    to.receives.push_back({point, consumers, peer, tag});
  }
}

std::size_t most_messages(std::span<const rank_columns> graphs) {
  std::size_t messages = 0;
  for (const rank_columns& each : graphs) messages += each.max_sends() + each.max_receives();
  return messages;
}

}  // namespace teff::graphs
