#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include "message/communicator_core.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace teff::detail {

namespace {

std::span<const std::byte> arguments_in(std::span<const std::byte> bytes) noexcept {
  return bytes.subspan(sizeof(block_offer));
}

}  // namespace

// ---- On the sender ----

struct large_messages::outgoing_offer {
  large_messages& by;
  int to;
  block_offer offer;
  offered data;
  const outgoing_arguments& arguments;
  bool is_sent = false;

  // The caller holds the lock of the peer. Keeps the offer before it leaves: the receiver may answer at once.
  void write(std::byte* at) {
    arguments.write(arguments.of, at + sizeof offer);
    if (!offer.is_deposited() || data.may_reuse) {
      const std::lock_guard lock(by.mutex_);
      offer.number = ++by.offers_;
      by.offered_.emplace(offer.number, std::move(data));
    }
    auto& peer = by.core_.peers_.at(to);
    ++peer.large;
    peer.large_bytes += offer.bytes;
    std::memcpy(at, &offer, sizeof offer);
    is_sent = true;
  }
};

void large_messages::offer(int to, std::span<const std::byte> data, std::function<void()> may_reuse,
                           const outgoing_arguments& arguments,
                           const std::function<void(const outgoing_arguments&)>& send) {
  core_.expect_rank(to);
  const auto copy = to == core_.rank() ? std::nullopt : core_.channel_->deposit(to, data);
  const block_offer of{core_.rank(), copy.value_or(block_offer::no_deposit), 0,
                       reinterpret_cast<std::uintptr_t>(data.data()), data.size()};
  outgoing_offer all{*this, to, of, {data, std::move(may_reuse)}, arguments};
  const auto write = [](const void* what, std::byte* at) {
    static_cast<outgoing_offer*>(const_cast<void*>(what))->write(at);
  };
  const auto take_back = [&] {
    if (of.is_deposited() && !all.is_sent) core_.channel_->take_back(to, of.deposit);
  };
  undo_if_thrown([&] { send({sizeof of + arguments.size, write, &all}); }, take_back);
  take_back();
  // The program may change deposited data at once. A handler tells it so, as it does for other data.
  if (of.is_deposited() && all.offer.number != 0)
    core_.send_step(core_.rank(), block_step::left, {all.offer.number, 0, core_.rank()});
}

// Finds an offer of this rank. If it `ends`, the program may change the data again.
large_messages::offered large_messages::offered_as(std::uint64_t number, bool ends) {
  const std::lock_guard lock(mutex_);
  const auto found = offered_.find(number);
  if (found == offered_.end()) throw malformed_message("teff::communicator: an answer to no large message");
  if (!ends) return {found->second.data, {}};
  return std::move(offered_.extract(found).mapped());
}

// ---- On the receiver ----

void large_messages::answer(const block_offer& offer) {
  core_.send_step(offer.from, block_step::done, {offer.number, 0, core_.rank()});
}

void large_messages::take_offer(const large_functions& functions, std::span<const std::byte> bytes) {
  const auto offer = read_as<block_offer>(bytes);
  if (offer.from < 0 || offer.from >= core_.ranks())
    throw malformed_message("teff::communicator: a large message of no rank");
  if (offer.is_deposited() || offer.from == core_.rank() || core_.channel_->reads(offer.from))
    return take_now(functions, offer, arguments_in(bytes));
  auto came = std::make_unique<taken>(taken{&functions, {}, {}});
  std::memcpy(came->bytes.append(bytes.size()), bytes.data(), bytes.size());
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(came));
  }
  fill_slots();
}

void large_messages::fetch(const block_offer& offer, std::span<std::byte> to) {
  if (offer.is_deposited()) {
    core_.channel_->withdraw(offer.from, offer.deposit, to);
  } else if (offer.from != core_.rank()) {
    core_.channel_->read(offer.from, offer.address, to);
  } else if (!to.empty()) {
    std::memmove(to.data(), reinterpret_cast<const void*>(offer.address), to.size());
  }
}

template <class Use>
bool large_messages::lands(const large_functions& functions, const block_offer& offer,
                           std::span<const std::byte> arguments, Use use) {
  try {
    if (!core_.cancelled()) {
      use(functions.land(arguments, offer.bytes));
      return true;
    }
  } catch (...) {
    core_.fail(std::current_exception());
  }
  // Ends the offer: its data are not wanted.
  if (offer.is_deposited()) {
    core_.channel_->withdraw(offer.from, offer.deposit, {});
  } else {
    answer(offer);
  }
  return false;
}

void large_messages::take_now(const large_functions& functions, const block_offer& offer,
                              std::span<const std::byte> arguments) {
  std::span<std::byte> to;
  const auto take = [&](std::span<std::byte> memory) { fetch(offer, to = memory); };
  if (!lands(functions, offer, arguments, take)) return;
  if (!offer.is_deposited()) answer(offer);
  functions.arrived(arguments, to);
}

// Gives each free slot to the offer that waits longest.
void large_messages::fill_slots() {
  for (;;) {
    int slot = 0;
    taken* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto free = std::find(expected_.begin(), expected_.end(), nullptr);
      if (free == expected_.end() || waiting_.empty()) return;
      *free = std::move(waiting_.front());
      waiting_.pop_front();
      next = free->get();
      slot = static_cast<int>(free - expected_.begin());
    }
    const auto bytes = next->bytes.bytes();
    const auto offer = read_as<block_offer>(bytes);
    if (!lands(*next->functions, offer, arguments_in(bytes), [&](auto memory) { next->to = memory; })) {
      const std::lock_guard lock(mutex_);
      expected_[static_cast<std::size_t>(slot)].reset();
      continue;
    }
    const block_word word{offer.number, slot, core_.rank()};
    core_.channel_->expect(offer.from, slot, next->to, core_.step_packet(block_step::arrived, word));
    core_.send_step(offer.from, block_step::ready, word);
  }
}

void large_messages::take_data(int slot) {
  std::unique_ptr<taken> came;
  if (slot >= 0 && static_cast<std::size_t>(slot) < most_expected) {
    const std::lock_guard lock(mutex_);
    came = std::move(expected_[static_cast<std::size_t>(slot)]);
  }
  if (!came) throw malformed_message("teff::communicator: data that nobody expects");
  fill_slots();
  if (!core_.cancelled()) came->functions->arrived(arguments_in(came->bytes.bytes()), came->to);
}

void large_messages::take_step(block_step step, std::span<const std::byte> bytes) {
  const auto word = read_as<block_word>(bytes);
  switch (step) {
    case block_step::done:
    case block_step::left: {
      const auto may_reuse = offered_as(word.number, true).may_reuse;
      if (may_reuse && !core_.cancelled()) may_reuse();
      return;
    }
    case block_step::ready: {
      const auto data = offered_as(word.number, false).data;
      // Counted before either can come, so that no wave finds more messages handled than sent.
      core_.count_step(word.from);
      core_.count_step(core_.rank());
      return core_.channel_->supply(word.from, word.slot, data,
                                    core_.step_packet(block_step::left, {word.number, 0, core_.rank()}));
    }
    case block_step::arrived:
      return take_data(word.slot);
  }
  throw malformed_message("teff::communicator: a message that was not registered");
}

}  // namespace teff::detail
