// How ranks agree on a distributed replay: phases, each of which ends on all ranks before the next one
// begins (replay.md).
#include <teff/error.hpp>

#include "distributed/replay_memory.hpp"
#include "distributed/replay_planning.hpp"
#include "message/message_source.hpp"
#include "message/watched_channel.hpp"
#include "platform/asymmetric_fence.hpp"
#include "replay/needs.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <set>
#include <string>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t page_size = 4096;

// For this process alone, all zero. Pages that no thread writes take no memory.
std::shared_ptr<std::byte> own_memory(std::size_t size) {
  void* const made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  ::madvise(made, size, MADV_NOHUGEPAGE);  // a stamp would make 2 MiB of them resident
  return {static_cast<std::byte*>(made), [size](std::byte* memory) { ::munmap(memory, size); }};
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
  auto& first = all.at(transport_.rank()).first = {0};
  for (const auto& each : all.lists) first.push_back(first.back() + static_cast<std::uint32_t>(each.size()));
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
  auto& own = all.at(transport_.rank());
  std::vector<std::uint32_t> most_before(own.first.back());
  for (const auto& from : all.from) {
    for (const auto& each : from.readers) {
      auto& most = most_before[own.number(each.of_worker, each.of_index)];
      most = std::max(most, each.before);
    }
  }
  std::size_t end = sizeof(shared_head) + all.lists.size() * sizeof(shared_bell);
  all.for_each_task([&](std::uint32_t, std::uint32_t, const rank_planned_task& task) {
    const auto kept = outputs_kept(task.bytes, most_before[own.table.size()]);
    own.table.push_back({kept, task.bytes, end});
    end += bytes_of(slots_at(nullptr, task.bytes, kept));
  });
  const auto size = rounded_up(end, page_size);
  memory_ = transport_.share_memory(size, own.name);
  if (!memory_) {
    own.name = {};
    memory_ = own_memory(size);
  }
  own.memory = memory_;
  failed_ = &(::new (memory_.get()) shared_head)->failed;
  bells_ = all.lists.size();
  for (std::size_t worker = 0; worker < bells_; ++worker)
    ::new (memory_.get() + sizeof(shared_head) + worker * sizeof(shared_bell)) shared_bell;
  own.place_slots();
  for (const auto& slots : own.slots)
    for (std::uint64_t i = 0; i <= slots.mask; ++i) ::new (&slots.stamp(i)) replay_stamp<>;
}

// Each rank tells the ranks that it reads from, and the ranks that read from it, where its outputs lie.
void replay_ranks::exchange_tables(planned& all) {
  const int own_rank = transport_.rank();
  messages_.run([&] {
    const auto& own = all.at(own_rank);
    for (int to = 0; to < transport_.ranks(); ++to) {
      auto& there = all.at(to);
      there.is_peer = to != own_rank && (there.is_peer || !there.readers.empty());
      if (there.is_peer)
        all.send_table.send(to, own_rank, {own.name.owner, own.name.number, own.name.size}, own.first,
                            own.table);
    }
  });
}

// The needs of this rank's tasks are reduced, and the other ranks are told the needs that are left.
void replay_ranks::exchange_needs(planned& all) {
  const int own_rank = transport_.rank();
  std::map<rank_worker, std::uint32_t> tasks;
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    const auto& first = all.at(rank).first;  // empty: no peer
    for (std::uint32_t worker = 0; worker + 1 < first.size(); ++worker)
      tasks[{rank, worker}] = first[worker + 1] - first[worker];
  }
  std::vector<rank_need> needs;
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
    for (const auto& [from, before] : task.reads) {
      if (from.on != rank_worker{own_rank, worker}) needs.push_back({worker, index, from, before});
    }
  });
  // A task that overwrites an output waits for the tasks that read it.
  const auto& own = all.at(own_rank);
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    for (const auto& each : all.at(rank).readers) {
      const rank_task reader{{rank, each.worker}, each.index};
      const auto kept = std::int64_t{own.table[own.number(each.of_worker, each.of_index)].kept};
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
        if (own.name.size != 0 && there.name.size != 0) there.memory = transport_.map_memory(to, there.name);
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
                             const std::vector<std::uint32_t>& first, const std::vector<table_entry>& table) {
            auto& there = at(sender);
            there.name = {its_name[0], its_name[1], its_name[2]};
            there.first = first;
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
  const auto& own = all.at(transport_.rank());
  signals_.resize(own.table.size());
  peer_of_.resize(all.from.size());
  fences_are_light_ = own_fence().available();
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    const auto& there = all.at(rank);
    if (rank == transport_.rank() || (there.is_peer && meet(all, rank))) {
      for (const auto& each : there.waited_for)
        signals_[own.number(each.of_worker, each.of_index)].bells.push_back(
            &bell_of(there.memory.get(), each.worker));
    } else if (there.is_peer) {
      tell_far(all, rank);
    }
  }
  // Where no thread can wake a sleeper of this rank, or only by the bell of the transport.
  polls_ = has_far_ && (channel_->is_polled() || channel_->rings());
  std::uint64_t most_kept = 1;
  for (std::uint32_t worker = 0; worker < all.lists.size(); ++worker) {
    if (!all.lists[worker].empty()) parts_.push_back(waits_of(all, worker));
    for (const auto& task : all.lists[worker]) {
      for (const auto& [from, before] : task.reads) {
        const auto& there = all.at(from.on.rank);
        most_kept = std::max<std::uint64_t>(most_kept, there.table[there.number(from)].kept);
        most_before_ = std::max<std::uint64_t>(most_before_, before);
      }
    }
  }
  phase_mask_ = most_kept - 1;
  for (auto& part : parts_) list_inputs(all, part);
  long_waits_ = std::make_unique<long_wait[]>(parts_.size());
}

// Ranks that share memory both ways are near. Of any other rank there is a copy here that packets keep.
// Returns whether the rank is near.
bool replay_ranks::meet(planned& all, int rank) {
  auto& there = all.at(rank);
  auto& met = *peers_.emplace_back(std::make_unique<peer>());
  peer_of_[static_cast<std::size_t>(rank)] = &met;
  met.rank = rank;
  met.workers = there.first.size() - 1;
  met.is_near = there.memory != nullptr && there.has_mapped;
  if (!met.is_near) {
    const auto& last = there.table.back();
    // Its stamps are zero: nothing has ended.
    there.memory = own_memory(last.offset + bytes_of(slots_at(nullptr, last.bytes, last.kept)));
  }
  there.place_slots();
  met.memory = there.memory;
  met.slots = there.slots;
  has_far_ = has_far_ || !met.is_near;
  fences_are_light_ = fences_are_light_ && (!met.is_near || there.has_fence);
  return met.is_near;
}

void replay_ranks::tell_far(const planned& all, int rank) {
  const auto& own = all.at(transport_.rank());
  std::map<std::size_t, bool> with_output;  // by number of the task
  for (const auto& each : all.at(rank).waited_for)
    with_output[own.number(each.of_worker, each.of_index)] = false;
  for (const auto& each : all.at(rank).readers) {
    const auto number = own.number(each.of_worker, each.of_index);
    if (own.table[number].bytes != 0) with_output[number] = true;
  }
  for (const auto& [number, output] : with_output)
    signals_[number].far.push_back({rank, static_cast<std::uint32_t>(number), output});
}

rank_part replay_ranks::waits_of(const planned& all, std::uint32_t worker) const {
  const auto& own = all.at(transport_.rank());
  rank_part part;
  part.worker = worker;
  auto need = std::ranges::find(all.needs, worker, &rank_need::worker);
  const auto& list = all.lists[worker];
  for (std::uint32_t index = 0; index < list.size(); ++index) {
    for (; need != all.needs.end() && need->worker == worker && need->index == index; ++need) {
      const auto& there = all.at(need->on.on.rank);
      part.waits.push_back({there.slots[there.number(need->on)], need->before});
      part.awaited.push_back(need->on);
    }
    for (const auto& each : list[index].reads) part.befores.push_back(each.before);
    auto& step = part.steps.emplace_back();
    step.waits_end = static_cast<std::uint32_t>(part.waits.size());
    step.inputs_end = static_cast<std::uint32_t>(part.befores.size());
    step.bytes = list[index].bytes;
    step.number = static_cast<std::uint32_t>(own.number(worker, index));
    step.output = own.slots[step.number];
    step.is_awaited = !signals_[step.number].bells.empty() || !signals_[step.number].far.empty();
  }
  part.inputs_of_phase = part.befores.size();
  return part;
}

void replay_ranks::list_inputs(const planned& all, rank_part& part) const {
  for (std::uint64_t phase = 0; phase <= phase_mask_; ++phase) {
    for (const auto& task : all.lists[part.worker]) {
      for (const auto& [from, before] : task.reads) {
        const auto& there = all.at(from.on.rank);
        const auto number = there.number(from);
        part.inputs.push_back({there.slots[number].at(phase - before), there.table[number].bytes});
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
