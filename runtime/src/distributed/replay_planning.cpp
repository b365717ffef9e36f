// How ranks agree on a distributed replay: phases, each of which ends on all ranks before the next one
// begins (replay.md).
#include <teff/error.hpp>

#include "distributed/replay_memory.hpp"
#include "distributed/replay_planning.hpp"
#include "message/message_source.hpp"
#include "message/watched_channel.hpp"
#include "platform/asymmetric_fence.hpp"
#include "replay/needs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t page_size = 4096;

// For this process alone.
std::shared_ptr<std::byte> own_memory(std::size_t size) {
  std::shared_ptr<std::byte> made(
      static_cast<std::byte*>(::operator new(size, std::align_val_t{page_size})),
      [](std::byte* memory) { ::operator delete(memory, std::align_val_t{page_size}); });
  std::memset(made.get(), 0, size);
  return made;
}

}  // namespace

replay_ranks::replay_ranks(communicator& like)
    : runtime_(like.workers()),
      transport_(like.network()),
      messages_(runtime_, transport_, {.window = like.window()}, "distributed_replay"),
      tell_times_(messages_.on([this](int from, std::uint64_t times) {
        if (!leaves_) expect_same_times(from, times);
      })),
      channel_(open_watched(transport_, private_access::source(messages_).name())),
      planning_(std::make_unique<planned>(messages_, transport_.ranks())) {
  private_access::source(messages_).describe([this] { return waits_in_words(); });
  channel_->on_arrival([this] { ring_own(); });
}

replay_ranks::~replay_ranks() {
  leave();
  channel_->on_arrival(nullptr);
  close_watched(std::move(channel_), private_access::source(messages_).name(), transport_.rank(),
                transport_.ranks());
}

void replay_ranks::plan(rank_lists lists) {
  auto& all = *planning_;
  all.lists = std::move(lists);
  exchange_readers(all);
  refuse_cycles(all);
  lay_out(all);
  exchange_tables(all);
  exchange_needs(all);
  compile(all);
  std::vector<std::uint32_t> tasks;
  for (const auto& each : all.lists) tasks.push_back(static_cast<std::uint32_t>(each.size()));
  core_.emplace(private_access::internals(runtime_), replay_plan(tasks, {}, true));
  planning_.reset();
}

// Each rank tells those whose outputs it reads which of its tasks read them.
void replay_ranks::exchange_readers(planned& all) {
  const int own_rank = transport_.rank();
  messages_.run([&] {
    std::vector<std::vector<planned::reader>> of_rank(all.from.size());
    all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
      for (const auto& [from, before] : task.reads) {
        if (from.on == rank_worker{own_rank, worker} && before == 0 && from.index >= index)
          throw misuse("teff::distributed_replay: " + named({{own_rank, worker}, index}) +
                       " reads the output of " + named(from) + ", which its worker makes later");
        of_rank[static_cast<std::size_t>(from.on.rank)].push_back(
            {from.on.worker, from.index, worker, index, before});
      }
    });
    for (int to = 0; to < transport_.ranks(); ++to) {
      auto& readers = of_rank[static_cast<std::size_t>(to)];
      if (to == own_rank) {
        all.at(own_rank).readers = std::move(readers);
      } else if (!readers.empty()) {
        all.at(to).is_peer = true;
        all.send_readers.send(to, own_rank, readers);
      }
    }
  });
}

// How many outputs of each task are kept, and where.
void replay_ranks::lay_out(planned& all) {
  for (const auto& list : all.lists) all.own.emplace_back(list.size());
  for (const auto& from : all.from) {
    for (const auto& each : from.readers) {
      auto& read = all.own[each.of_worker][each.of_index];
      read.most_before = std::max(read.most_before, each.before);
    }
  }
  std::size_t end = sizeof(shared_head) + all.lists.size() * sizeof(shared_bell);
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
    auto& own = all.own[worker][index];
    own.offset = end;
    own.kept = outputs_kept(task.bytes, own.most_before);
    end += bytes_of(slots_at(nullptr, task.bytes, own.kept));
  });
  const auto size = rounded_up(end, page_size);
  memory_ = transport_.share_memory(size, all.name);
  if (!memory_) {
    all.name = {};
    memory_ = own_memory(size);
  }
  failed_ = &(::new (memory_.get()) shared_head)->failed;
  bells_ = all.lists.size();
  for (std::size_t worker = 0; worker < bells_; ++worker)
    ::new (memory_.get() + sizeof(shared_head) + worker * sizeof(shared_bell)) shared_bell;
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
    auto& own = all.own[worker][index];
    own.slots = slots_at(memory_.get() + own.offset, task.bytes, own.kept);
    for (std::uint64_t i = 0; i < own.kept; ++i) ::new (&own.slots.stamp(i)) replay_stamp<>;
  });
}

// Each rank tells the ranks that it reads from, and the ranks that read from it, where the outputs of its
// tasks lie that read or are read.
void replay_ranks::exchange_tables(planned& all) {
  const int own_rank = transport_.rank();
  std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> of_rank(all.from.size());
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
    for (const auto& each : task.reads)
      of_rank[static_cast<std::size_t>(each.from.on.rank)].insert({worker, index});
  });
  for (std::size_t rank = 0; rank < all.from.size(); ++rank) {
    for (const auto& each : all.from[rank].readers) of_rank[rank].insert({each.of_worker, each.of_index});
  }
  messages_.run([&] {
    for (int to = 0; to < transport_.ranks(); ++to) {
      if (to == own_rank || of_rank[static_cast<std::size_t>(to)].empty()) continue;
      auto& there = all.at(to);
      there.is_peer = true;
      for (const auto& [worker, index] : of_rank[static_cast<std::size_t>(to)]) {
        const auto& own = all.own[worker][index];
        there.number.emplace(std::pair(worker, index), static_cast<std::uint32_t>(there.sent.size()));
        there.sent.push_back({worker, index, own.kept, all.lists[worker][index].bytes, own.offset});
      }
      all.send_table.send(to, own_rank, {all.name.owner, all.name.number, all.name.size},
                          all.tasks_of_workers(), there.sent);
    }
  });
}

// The needs of this rank's tasks are reduced, and the other ranks are told the needs that are left.
void replay_ranks::exchange_needs(planned& all) {
  const int own_rank = transport_.rank();
  std::map<rank_worker, std::uint32_t> tasks;
  const auto note = [&](int rank, const std::vector<std::uint32_t>& of_workers) {
    for (std::uint32_t worker = 0; worker < of_workers.size(); ++worker)
      tasks[{rank, worker}] = of_workers[worker];
  };
  note(own_rank, all.tasks_of_workers());
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    if (all.at(rank).is_peer) note(rank, all.at(rank).tasks);
  }
  std::vector<rank_need> needs;
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
    for (const auto& [from, before] : task.reads) {
      if (from.on != rank_worker{own_rank, worker}) needs.push_back({worker, index, from, before});
    }
  });
  // A task that overwrites an output waits for the tasks that read it.
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    for (const auto& each : all.at(rank).readers) {
      const rank_task reader{{rank, each.worker}, each.index};
      const auto kept = std::int64_t{all.own[each.of_worker][each.of_index].kept};
      if (reader.on != rank_worker{own_rank, each.of_worker})
        needs.push_back({each.of_worker, each.of_index, reader, kept - each.before});
    }
  }
  all.needs = reduced(std::move(needs), tasks);
  std::vector<std::set<planned::awaited>> of_rank(all.from.size());
  for (const auto& each : all.needs)
    of_rank[static_cast<std::size_t>(each.on.on.rank)].insert(
        {each.on.on.worker, each.on.index, each.worker});
  messages_.run([&] {
    for (int to = 0; to < transport_.ranks(); ++to) {
      auto& there = all.at(to);
      const auto& awaited = of_rank[static_cast<std::size_t>(to)];
      std::vector<planned::awaited> words(awaited.begin(), awaited.end());
      if (to == own_rank) {
        there.waited_for = std::move(words);
      } else if (there.is_peer) {
        if (all.name.size != 0 && there.name.size != 0) there.memory = transport_.map_memory(to, there.name);
        all.send_needs.send(to, own_rank, there.memory != nullptr, own_fence().available(), words);
      }
    }
  });
}

replay_ranks::planned::planned(communicator& messages, int ranks)
    : send_readers(messages.on(
          [this](int sender, const std::vector<reader>& of_own) { at(sender).readers = of_own; })),
      send_table(
          messages.on([this](int sender, const std::array<std::uint64_t, 3>& its_name,
                             const std::vector<std::uint32_t>& tasks, const std::vector<table_entry>& table) {
            auto& there = at(sender);
            there.name = {its_name[0], its_name[1], its_name[2]};
            there.tasks = tasks;
            there.table = table;
          })),
      send_needs(messages.on([this](int sender, bool has_mapped, bool has_fence,
                                    const std::vector<planned::awaited>& waited_for) {
        at(sender).has_mapped = has_mapped;
        at(sender).has_fence = has_fence;
        at(sender).waited_for = waited_for;
      })),
      from(static_cast<std::size_t>(ranks)) {}

// ---- The plan as parts run it ----

void replay_ranks::compile(planned& all) {
  meet_peers(all);
  const int own_rank = transport_.rank();
  std::vector<part_signals> told(all.lists.size());
  for (std::size_t worker = 0; worker < told.size(); ++worker)
    told[worker].steps.resize(all.lists[worker].size());
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    const auto& there = all.at(rank);
    const auto* const other = peer_of_[static_cast<std::size_t>(rank)];
    if (rank == own_rank || (other != nullptr && other->is_near)) {
      const auto* const memory = rank == own_rank ? memory_.get() : other->memory.get();
      for (const auto& each : there.waited_for)
        told[each.of_worker].steps[each.of_index].bells.push_back(&bell_of(memory, each.worker));
    } else if (other != nullptr) {
      tell_far(all, rank, told);
    }
  }
  std::uint64_t most_kept = 1;
  for (std::uint32_t worker = 0; worker < all.lists.size(); ++worker) {
    if (all.lists[worker].empty()) continue;
    parts_.push_back(waits_of(all, worker));
    signals_.push_back(std::move(told[worker]));
    for (std::size_t i = 0; i < parts_.back().steps.size(); ++i) {
      const auto& tell = signals_.back().steps[i];
      parts_.back().steps[i].is_awaited = !tell.bells.empty() || !tell.far.empty();
    }
    for (const auto& task : all.lists[worker]) {
      for (const auto& [from, before] : task.reads) {
        most_kept = std::max(most_kept, slots_of(from, all).mask + 1);
        most_before_ = std::max<std::uint64_t>(most_before_, before);
      }
    }
  }
  phase_mask_ = most_kept - 1;
  for (auto& part : parts_) list_inputs(all, part);
  long_waits_ = std::make_unique<long_wait[]>(parts_.size());
}

// Ranks that share memory both ways are near; of all others there is a copy here that packets keep.
void replay_ranks::meet_peers(planned& all) {
  peer_of_.resize(all.from.size());
  fences_are_light_ = own_fence().available();
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    auto& there = all.at(rank);
    if (!there.is_peer) continue;
    auto& met = *peers_.emplace_back(std::make_unique<peer>());
    peer_of_[static_cast<std::size_t>(rank)] = &met;
    met.rank = rank;
    met.workers = there.tasks.size();
    met.is_near = there.memory != nullptr && there.has_mapped;
    std::vector<std::size_t> offsets;
    std::size_t end = 0;
    for (const auto& each : there.table) {
      offsets.push_back(met.is_near ? each.offset : end);
      end += bytes_of(slots_at(nullptr, each.bytes, each.kept));
    }
    met.memory = met.is_near ? std::move(there.memory) : own_memory(std::max(end, page_size));
    for (std::size_t i = 0; i < there.table.size(); ++i) {
      const auto& each = there.table[i];
      met.slots.push_back(slots_at(met.memory.get() + offsets[i], each.bytes, each.kept));
      met.bytes.push_back(each.bytes);
      there.numbers_there.emplace(std::pair(each.worker, each.index), i);
      for (std::uint64_t k = 0; !met.is_near && k < each.kept; ++k)
        ::new (&met.slots.back().stamp(k)) replay_stamp<>;
    }
    has_far_ = has_far_ || !met.is_near;
    fences_are_light_ = fences_are_light_ && (!met.is_near || there.has_fence);
  }
  // Where no thread can wake a sleeper of this rank, or only by the bell of the transport.
  polls_ = has_far_ && (channel_->is_polled() || channel_->rings());
}

void replay_ranks::tell_far(planned& all, int rank, std::vector<part_signals>& told) const {
  const auto& there = all.at(rank);
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> with_output;
  for (const auto& each : there.waited_for) with_output[{each.of_worker, each.of_index}] = false;
  for (const auto& each : there.readers) {
    if (all.lists[each.of_worker][each.of_index].bytes != 0)
      with_output[{each.of_worker, each.of_index}] = true;
  }
  for (const auto& [task, output] : with_output)
    told[task.first].steps[task.second].far.push_back({rank, there.number.at(task), output});
}

kept_slots replay_ranks::slots_of(const rank_task& task, const planned& all) const {
  if (task.on.rank == transport_.rank()) return all.own[task.on.worker][task.index].slots;
  const auto rank = static_cast<std::size_t>(task.on.rank);
  return peer_of_[rank]->slots[all.from[rank].numbers_there.at({task.on.worker, task.index})];
}

rank_part replay_ranks::waits_of(const planned& all, std::uint32_t worker) const {
  rank_part part;
  part.worker = worker;
  auto need = std::ranges::find(all.needs, worker, &rank_need::worker);
  const auto& list = all.lists[worker];
  for (std::uint32_t index = 0; index < list.size(); ++index) {
    for (; need != all.needs.end() && need->worker == worker && need->index == index; ++need) {
      part.waits.push_back({slots_of(need->on, all), need->before});
      part.awaited.push_back(need->on);
    }
    for (const auto& each : list[index].reads) part.befores.push_back(each.before);
    auto& step = part.steps.emplace_back();
    step.waits_end = static_cast<std::uint32_t>(part.waits.size());
    step.inputs_end = static_cast<std::uint32_t>(part.befores.size());
    step.bytes = list[index].bytes;
    step.output = all.own[worker][index].slots;
  }
  part.inputs_of_phase = part.befores.size();
  return part;
}

void replay_ranks::list_inputs(const planned& all, rank_part& part) const {
  for (std::uint64_t phase = 0; phase <= phase_mask_; ++phase) {
    for (const auto& task : all.lists[part.worker]) {
      for (const auto& [from, before] : task.reads) {
        const auto rank = static_cast<std::size_t>(from.on.rank);
        const auto bytes =
            from.on.rank == transport_.rank()
                ? all.lists[from.on.worker][from.index].bytes
                : all.from[rank].table[all.from[rank].numbers_there.at({from.on.worker, from.index})].bytes;
        part.inputs.push_back({slots_of(from, all).at(phase - before), bytes});
      }
    }
  }
}

// ---- rank_plan.hpp ----

std::uint32_t outputs_kept(std::size_t bytes, std::uint32_t most_before) noexcept {
  // Twice as many small outputs: a worker that overwrites one then waits for a reader that is long done.
  constexpr std::size_t small = 1024;
  const auto least = std::bit_ceil(most_before + 1);
  return bytes <= small ? 2 * least : least;
}

std::vector<rank_need> reduced(std::vector<rank_need> needs,
                               const std::map<rank_worker, std::uint32_t>& tasks) {
  const auto tasks_of = [&](const rank_worker& on) { return std::int64_t{tasks.at(on)}; };
  drop_known(
      needs,
      [&](const rank_need& each) {
        return replay_need<rank_worker>{each.worker, each.index, each.on.on,
                                        each.on.index - each.before * tasks_of(each.on.on)};
      },
      tasks_of);
  return needs;
}

}  // namespace teff::detail
