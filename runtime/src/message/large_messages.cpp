#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include "message/communicator_core.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace teff::detail {

namespace {

block_offer offer_in(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(block_offer))
    throw malformed_message("teff::communicator: a large message ends too early");
  block_offer offer;
  std::memcpy(&offer, bytes.data(), sizeof offer);
  return offer;
}

std::span<const std::byte> arguments_in(std::span<const std::byte> bytes) noexcept {
  return bytes.subspan(sizeof(block_offer));
}

}  // namespace

// ---- On the sender ----

// Counts the message before it leaves: its receiver may answer before send() returns.
block_offer large_messages::offer(int to, std::span<const std::byte> data, std::function<void()> may_reuse) {
  if (to < 0 || to >= core_.ranks()) refuse_index("teff::message::send", "rank", to, core_.ranks());
  const auto copy = to == core_.rank() ? std::nullopt : core_.channel_->deposit(to, data);
  const std::lock_guard lock(mutex_);
  const auto number = ++offers_;
  auto& counts = sent_[to];
  offered_.emplace(number, offered{data, std::move(may_reuse)});
  ++counts.large;
  counts.large_bytes += data.size();
  return {core_.rank(), copy.value_or(block_offer::no_deposit), number,
          reinterpret_cast<std::uintptr_t>(data.data()), data.size()};
}

// The program may change deposited data at once. A handler tells it so, as it does for other data.
void large_messages::sent(const block_offer& offer) {
  {
    const std::lock_guard lock(mutex_);
    if (!offer.is_deposited()) return;
    const auto mine = offered_.find(offer.number);
    if (!mine->second.may_reuse) {
      offered_.erase(mine);
      return;
    }
  }
  core_.send_step(core_.rank(), block_step::left, {offer.number, 0, core_.rank()});
}

void large_messages::take_back(int to, const block_offer& offer) noexcept {
  const std::lock_guard lock(mutex_);
  auto& counts = sent_.at(to);
  --counts.large;
  counts.large_bytes -= offer.bytes;
  if (offer.is_deposited()) core_.channel_->take_back(to, offer.deposit);
  offered_.erase(offer.number);
}

void large_messages::count_in(message_counts& sent, int to) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sent_.find(to); found != sent_.end()) sent += found->second;
}

std::span<const std::byte> large_messages::data_of(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = offered_.find(number);
  if (found == offered_.end()) throw malformed_message("teff::communicator: an answer to no large message");
  return found->second.data;
}

// The program may change the data of this offer again.
void large_messages::release(std::uint64_t number) {
  std::function<void()> may_reuse;
  {
    const std::lock_guard lock(mutex_);
    auto mine = offered_.extract(number);
    if (mine.empty()) throw malformed_message("teff::communicator: an answer to no large message");
    may_reuse = std::move(mine.mapped().may_reuse);
  }
  if (may_reuse && !core_.cancelled()) may_reuse();
}

// ---- On the receiver ----

void large_messages::answer(const block_offer& offer) {
  core_.send_step(offer.from, block_step::done, {offer.number, 0, core_.rank()});
}

// Ends an offer whose data are not wanted.
void large_messages::refuse(const block_offer& offer) {
  if (offer.is_deposited()) return core_.channel_->withdraw(offer.from, offer.deposit, {});
  answer(offer);
}

void large_messages::take_offer(const large_functions& functions, std::span<const std::byte> bytes) {
  const auto offer = offer_in(bytes);
  if (offer.from < 0 || offer.from >= core_.ranks())
    throw malformed_message("teff::communicator: a large message of no rank");
  if (offer.is_deposited() || offer.from == core_.rank() || core_.channel_->reads(offer.from))
    return take_now(functions, offer, arguments_in(bytes));
  waiting came{&functions, {}};
  std::memcpy(came.bytes.append(bytes.size()), bytes.data(), bytes.size());
  int slot = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto free = std::ranges::find(taken_, false);
    if (free == taken_.end()) return waiting_.push_back(std::move(came));
    *free = true;
    slot = static_cast<int>(free - taken_.begin());
  }
  if (!expect(slot, std::move(came))) next_for(slot);
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
  refuse(offer);
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

// Returns whether the slot is in use; if not, the offer has been answered.
bool large_messages::expect(int slot, waiting of) {
  const auto offer = offer_in(of.bytes.bytes());
  std::span<std::byte> to;
  if (!lands(*of.functions, offer, arguments_in(of.bytes.bytes()), [&](auto memory) { to = memory; }))
    return false;
  const block_word word{offer.number, slot, core_.rank()};
  expected_[static_cast<std::size_t>(slot)].emplace(expected{std::move(of), to});
  core_.channel_->expect(offer.from, slot, to, core_.step_packet(block_step::arrived, word));
  core_.send_step(offer.from, block_step::ready, word);
  return true;
}

// Gives the slot to the first waiting offer that uses it, or marks it free.
void large_messages::next_for(int slot) {
  for (;;) {
    waiting next{};
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        taken_[static_cast<std::size_t>(slot)] = false;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (expect(slot, std::move(next))) return;
  }
}

void large_messages::take_data(int slot) {
  if (slot < 0 || static_cast<std::size_t>(slot) >= most_expected ||
      !expected_[static_cast<std::size_t>(slot)])
    throw malformed_message("teff::communicator: data that nobody expects");
  auto& place = expected_[static_cast<std::size_t>(slot)];
  const auto came = std::move(*place);
  place.reset();
  next_for(slot);
  if (!core_.cancelled()) came.of.functions->arrived(arguments_in(came.of.bytes.bytes()), came.to);
}

void large_messages::take_step(block_step step, std::span<const std::byte> bytes) {
  block_word word{};
  if (bytes.size() != sizeof word)
    throw malformed_message("teff::communicator: a message that was not registered");
  std::memcpy(&word, bytes.data(), sizeof word);
  switch (step) {
    case block_step::done:
    case block_step::left:
      return release(word.number);
    case block_step::ready: {
      const auto data = data_of(word.number);
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
