#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include <teff/loopback.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace teff {

namespace detail {

// The packets for one rank on one channel. Another rank may send before this rank opens the channel.
struct mailbox {
  explicit mailbox(int ranks) : from(static_cast<std::size_t>(ranks)) {}

  std::mutex mutex;  // guards what follows
  std::deque<channel::arrival> arrivals;
  std::function<void()> tell;

  std::atomic<std::size_t> size{0};            // of arrivals, for a look without the lock
  std::vector<std::atomic<std::size_t>> from;  // arrivals by sender
};

}  // namespace detail

class loopback::job {
 public:
  explicit job(int ranks) : ranks_(ranks) {}
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  detail::mailbox& box(std::size_t number, int rank) {
    const std::lock_guard lock(mutex_);
    auto& boxes = channels_[number];
    if (boxes.empty()) {
      for (int i = 0; i < ranks_; ++i) boxes.push_back(std::make_unique<detail::mailbox>(ranks_));
    }
    return *boxes[static_cast<std::size_t>(rank)];
  }
  std::shared_ptr<std::byte> share(std::size_t size, memory_name& name) {
    constexpr std::align_val_t page{4096};
    const std::shared_ptr<std::byte> made(static_cast<std::byte*>(::operator new(size, page)),
                                          [](std::byte* at) { ::operator delete(at, page); });
    std::memset(made.get(), 0, size);
    const std::lock_guard lock(mutex_);
    std::erase_if(shared_, [](const auto& each) { return each.second.expired(); });
    name = {0, shares_++, size};
    shared_[name.number] = made;
    return made;
  }
  std::shared_ptr<std::byte> map(const memory_name& name) {
    const std::lock_guard lock(mutex_);
    const auto found = shared_.find(name.number);
    return found == shared_.end() ? nullptr : found->second.lock();
  }

 private:
  const int ranks_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<std::byte>> shared_;
  std::uint64_t shares_ = 0;
  std::map<std::size_t, std::vector<std::unique_ptr<detail::mailbox>>> channels_;
};

class loopback::end final : public transport {
 public:
  end(std::shared_ptr<job> of, int rank) : job_(std::move(of)), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int ranks() const noexcept override { return job_->ranks(); }
  [[nodiscard]] std::unique_ptr<channel> open() override {
    return std::make_unique<line>(job_, opened_.fetch_add(1), rank_);
  }
  [[nodiscard]] std::shared_ptr<std::byte> share_memory(std::size_t size, memory_name& name) override {
    return job_->share(size, name);
  }
  [[nodiscard]] std::shared_ptr<std::byte> map_memory(int /*of*/, const memory_name& name) override {
    return job_->map(name);
  }

 private:
  class line final : public channel {
   public:
    line(std::shared_ptr<job> of, std::size_t number, int rank) : job_(std::move(of)), rank_(rank) {
      for (int i = 0; i < job_->ranks(); ++i) boxes_.push_back(&job_->box(number, i));
      mine_ = boxes_[static_cast<std::size_t>(rank)];
    }
    ~line() override { line::on_arrival(nullptr); }

    void send(int to, packet&& bytes) override {
      auto& box = *boxes_[static_cast<std::size_t>(to)];
      const std::lock_guard lock(box.mutex);
      box.arrivals.push_back({rank_, std::move(bytes)});
      box.from[static_cast<std::size_t>(rank_)].fetch_add(1, std::memory_order_relaxed);
      // seq_cst: before tell() looks for sleepers; pairs with has_arrivals().
      box.size.fetch_add(1, std::memory_order_seq_cst);
      // Under the lock, so that the channel that is told is not destroyed meanwhile.
      if (box.tell) box.tell();
    }
    std::optional<arrival> receive() override {
      if (!has_arrivals()) return std::nullopt;
      const std::lock_guard lock(mine_->mutex);
      if (mine_->arrivals.empty()) return std::nullopt;
      std::optional<arrival> first(std::move(mine_->arrivals.front()));
      mine_->arrivals.pop_front();
      mine_->from[static_cast<std::size_t>(first->from)].fetch_sub(1, std::memory_order_relaxed);
      mine_->size.fetch_sub(1, std::memory_order_relaxed);
      return first;
    }
    [[nodiscard]] bool has_arrivals() const noexcept override {
      // seq_cst: after the worker has announced that it sleeps; pairs with send().
      return mine_->size.load(std::memory_order_seq_cst) != 0;
    }
    [[nodiscard]] std::size_t under_way(int to) const noexcept override {
      // Relaxed: a guess.
      return boxes_[static_cast<std::size_t>(to)]->from[static_cast<std::size_t>(rank_)].load(
          std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_near(int /*to*/) const noexcept override { return true; }
    void on_arrival(std::function<void()> tell) override {
      const std::lock_guard lock(mine_->mutex);
      mine_->tell = std::move(tell);
    }
    [[nodiscard]] bool reads(int /*from*/) const noexcept override { return true; }
    void read(int /*from*/, std::uint64_t address, std::span<std::byte> to) override {
      if (!to.empty()) std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
    }

   private:
    std::shared_ptr<job> job_;
    int rank_;
    std::vector<detail::mailbox*> boxes_;
    detail::mailbox* mine_;
  };

  std::shared_ptr<job> job_;
  int rank_;
  std::atomic<std::size_t> opened_{0};
};

loopback::loopback(int ranks) {
  if (ranks < 1) throw misuse("teff::loopback: a job has one rank at least");
  job_ = std::make_shared<job>(ranks);
  for (int i = 0; i < ranks; ++i) transports_.push_back(std::make_unique<end>(job_, i));
}

loopback::~loopback() = default;

int loopback::ranks() const noexcept {
  return job_->ranks();
}

transport& loopback::rank(int rank) {
  if (rank < 0 || rank >= ranks()) detail::refuse_index("teff::loopback::rank", "rank", rank, ranks());
  return *transports_[static_cast<std::size_t>(rank)];
}

}  // namespace teff
