// Packets between ranks of a node go through rings in shared memory (rings.md), all others by non-blocking
// point to point. One lock guards all calls of MPI, so the level SERIALIZED is enough.
#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include "mpi/job.hpp"
#include "mpi/parts.hpp"
#include "mpi/shared_pages.hpp"
#include "platform/futex.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace teff {

namespace {

// The tag of a packet says how many bytes its last block lacks. The receiver takes packets of any tag, so
// tags do not change the order.
using detail::block;

int blocks_of(std::size_t size) {
  const auto blocks = (size + block - 1) / block;
  if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw misuse("teff::mpi: a packet of more than 32 GiB");
  return static_cast<int>(blocks);
}

// MPI sends the data of large messages as bytes. Their tags are above those for packets. The receiver has
// posted all parts before the sender sends the first, so that none is taken for a packet.
constexpr int first_data_tag = static_cast<int>(block);

}  // namespace

// Each channel has an MPI communicator, so that no channel takes packets of another.
class mpi::line final : public channel {
 public:
  explicit line(std::shared_ptr<job> of)
      : job_(std::move(of)),
        number_(job_->opened.fetch_add(1)),
        inbox_(job_->near ? &job_->near->rings().open(number_) : nullptr),
        polled_(job_->has_far() || !detail::futex_vector::available()),
        under_way_(static_cast<std::size_t>(job_->ranks)) {
    MPI_Request made = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(job_->mutex);
      MPI_Comm_idup(MPI_COMM_WORLD, &all_, &made);
    }
    job_->complete(made);
  }

  // Receives and drops packets until no rank sends any more.
  ~line() override {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool entered = false;
    for (int over = 0; over == 0; std::this_thread::yield()) {
      while (line::receive()) {
      }
      const std::lock_guard lock(job_->mutex);
      end_some();
      if (!entered && all_left() && (inbox_ == nullptr || !job_->near->rings().has_waiting())) {
        MPI_Ibarrier(all_, &barrier);
        entered = true;
      }
      if (entered) MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
    }
    while (line::receive()) {
    }
    if (inbox_ != nullptr) {
      job_->near->rings().close(number_);
      job_->near->copies().close(number_);
    }
    const std::lock_guard lock(job_->mutex);
    MPI_Comm_free(&all_);
  }

  void send(int to, packet&& bytes) override {
    if (const auto near = job_->on_node[static_cast<std::size_t>(to)])
      return job_->near->rings().send(number_, *near, std::move(bytes));
    const auto size = bytes.size();
    const auto lacking = (block - size % block) % block;
    if (lacking != 0) bytes.append(lacking);
    const int count = blocks_of(size);
    const auto sent = std::make_shared<transfer>(transfer{to, std::move(bytes), {}});
    const std::lock_guard lock(job_->mutex);
    auto& request = begin_parts(sent, 1).front();
    under_way_[static_cast<std::size_t>(to)].fetch_add(1, std::memory_order_relaxed);
    MPI_Isend(sent->bytes.data(), count, job_->blocks, to, static_cast<int>(lacking), all_, &request);
    end_some();
  }

  std::optional<arrival> receive() override {
    if (inbox_ != nullptr) {
      if (auto came = job_->near->rings().receive(*inbox_)) {
        came->from = job_->near->ranks()[static_cast<std::size_t>(came->from)];
        return came;
      }
      job_->near->copies().help();
      if (!job_->has_far() && moves_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    }
    const std::lock_guard lock(job_->mutex);
    end_some();
    if (!moved_.empty()) {
      std::optional<arrival> first(std::move(moved_.front()));
      moved_.pop_front();
      moves_.fetch_sub(1, std::memory_order_relaxed);
      return first;
    }
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &found, &message, &status);
    if (found == 0) return std::nullopt;
    int count = 0;
    MPI_Get_count(&status, job_->blocks, &count);
    packet bytes;
    const auto size = static_cast<std::size_t>(count) * block;
    auto* const to = bytes.append(size);
    MPI_Mrecv(to, count, job_->blocks, &message, &status);
    bytes.cut(size - static_cast<std::size_t>(status.MPI_TAG));
    return arrival{status.MPI_SOURCE, std::move(bytes)};
  }

  [[nodiscard]] bool has_arrivals() const noexcept override {
    return inbox_ != nullptr &&
           (job_->near->rings().has_arrivals(*inbox_) || job_->near->copies().is_asked());
  }
  // MPI does not tell when data have come or left.
  [[nodiscard]] bool is_polled() const noexcept override {
    return polled_ || moves_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool rings() const noexcept override {
    return inbox_ != nullptr && detail::futex_vector::available();
  }
  [[nodiscard]] std::optional<detail::doorbell> listen(std::uint32_t sleeper) noexcept override {
    if (!line::rings()) return std::nullopt;
    return job_->near->rings().listen(sleeper);
  }
  void rise(std::uint32_t sleeper) noexcept override {
    if (line::rings()) job_->near->rings().rise(sleeper);
  }
  [[nodiscard]] std::size_t under_way(int to) const noexcept override {
    const auto where = static_cast<std::size_t>(to);
    if (const auto near = job_->on_node[where]) return job_->near->rings().under_way(*inbox_, *near);
    return under_way_[where].load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_near(int to) const noexcept override {
    return job_->on_node[static_cast<std::size_t>(to)].has_value();
  }
  void on_arrival(std::function<void()> tell) override {
    if (inbox_ != nullptr) job_->near->rings().on_arrival(*inbox_, std::move(tell));
  }

  [[nodiscard]] std::optional<std::uint32_t> deposit(int to, std::span<const std::byte> bytes) override {
    const auto near = job_->on_node[static_cast<std::size_t>(to)];
    // A rank that may read this rank's memory makes the only copy.
    if (!near || job_->near->reads()) return std::nullopt;
    return job_->near->copies().put(number_, *near, bytes);
  }
  void withdraw(int from, std::uint32_t number, std::span<std::byte> to) override {
    job_->near->copies().take(*job_->on_node[static_cast<std::size_t>(from)], number, to);
  }
  void take_back(int to, std::uint32_t number) override {
    job_->near->copies().take_back(*job_->on_node[static_cast<std::size_t>(to)], number);
  }
  [[nodiscard]] bool reads(int from) const noexcept override {
    return job_->near && job_->near->reads() && job_->on_node[static_cast<std::size_t>(from)];
  }
  void read(int from, std::uint64_t address, std::span<std::byte> to) override {
    const auto near = *job_->on_node[static_cast<std::size_t>(from)];
    job_->near->copies().read(near, job_->near->process(near), address, to);
  }
  void expect(int from, int number, std::span<std::byte> to, packet then) override {
    move({from, {}, std::move(then)}, to.size(), [&](std::size_t at, int size, MPI_Request& request) {
      MPI_Irecv(to.data() + at, size, MPI_BYTE, from, first_data_tag + number, all_, &request);
    });
  }
  void supply(int to, int number, std::span<const std::byte> bytes, packet then) override {
    move({job_->rank, {}, std::move(then)}, bytes.size(),
         [&](std::size_t at, int size, MPI_Request& request) {
           MPI_Isend(bytes.data() + at, size, MPI_BYTE, to, first_data_tag + number, all_, &request);
         });
  }

 private:
  // Bytes on their way: a packet to `rank`, or large data. When large data have come or left, this rank
  // receives `then`, as a packet of `rank`.
  struct transfer {
    int rank;
    packet bytes;
    packet then;
    std::size_t parts = 0;  // requests that have not completed
  };
  // Whether all packets have left this rank.
  [[nodiscard]] bool all_left() const noexcept {
    return std::ranges::all_of(under_way_, [](const auto& each) { return each == 0; });
  }
  // The caller holds the lock, and begins the requests that this returns. Throws std::bad_alloc.
  std::span<MPI_Request> begin_parts(const std::shared_ptr<transfer>& of, std::size_t parts) {
    const auto before = requests_.size();
    transfers_.resize(before + parts, of);
    detail::undo_if_thrown([&] { requests_.resize(before + parts, MPI_REQUEST_NULL); },
                           [&] { transfers_.resize(before); });
    of->parts = parts;
    return std::span(requests_).subspan(before);
  }
  template <class Begin>
  void move(transfer begun, std::size_t size, Begin begin) {
    const auto moves = std::make_shared<transfer>(std::move(begun));
    const std::lock_guard lock(job_->mutex);
    auto request = begin_parts(moves, detail::parts_of(size)).begin();
    detail::each_part(size, [&](std::size_t at, int some) { begin(at, some, *request++); });
    moves_.fetch_add(1, std::memory_order_relaxed);
  }
  // Ends transfers whose requests have completed. The caller holds the lock. One call of MPI asks for all of
  // them: where ranks share cores, each call that finds nothing may give the core to another rank.
  void end_some() {
    if (requests_.empty()) return;
    int count = 0;
    completed_.resize(requests_.size());
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                 MPI_STATUSES_IGNORE);
    // The last request takes the place of one that has completed. From the end on, this moves no place that
    // is still to come.
    std::sort(completed_.begin(), completed_.begin() + std::max(count, 0), std::greater<>{});
    for (int i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
      const auto ended = std::exchange(transfers_[place], std::move(transfers_.back()));
      requests_[place] = requests_.back();
      transfers_.pop_back();
      requests_.pop_back();
      if (--ended->parts != 0) continue;
      if (ended->then.empty()) {
        under_way_[static_cast<std::size_t>(ended->rank)].fetch_sub(1, std::memory_order_relaxed);
      } else {
        moved_.push_back({ended->rank, std::move(ended->then)});
      }
    }
  }

  std::shared_ptr<job> job_;
  const std::uint32_t number_;
  detail::rings::inbox* const inbox_;  // null: the job uses no rings
  const bool polled_;
  MPI_Comm all_ = MPI_COMM_NULL;
  // Guarded by the lock: requests that have not completed, the transfer of each at the same place, and the
  // places of those that have completed.
  std::vector<MPI_Request> requests_;
  std::vector<std::shared_ptr<transfer>> transfers_;
  std::vector<int> completed_;
  std::deque<arrival> moved_;          // guarded by the lock: data that have come or left
  std::atomic<std::size_t> moves_{0};  // large data on their way, and in moved_
  std::vector<std::atomic<std::size_t>> under_way_;
};

mpi::mpi(int& argc, char**& argv, const mpi_options& how) : job_(std::make_shared<job>(argc, argv, how)) {}

// The end of a job needs all ranks. If an exception leaves the job on this rank only, others may wait for its
// messages for ever. Then the program has to print the exception and to end, so the job is never destroyed.
mpi::~mpi() {
  static std::vector<std::shared_ptr<job>>& left = *new std::vector<std::shared_ptr<job>>;
  if (!job_->tasks->leave(std::uncaught_exceptions() > job_->exceptions)) left.push_back(std::move(job_));
}

int mpi::rank() const noexcept {
  return job_->rank;
}

int mpi::ranks() const noexcept {
  return job_->ranks;
}

std::unique_ptr<channel> mpi::open() {
  return std::make_unique<line>(job_);
}

std::string mpi::awaited() const {
  std::string late;
  const auto channel = job_->opened.load() - 1;
  for (std::size_t i = 0; job_->near && i < job_->near->ranks().size(); ++i) {
    if (!job_->near->rings().has_opened(i, channel))
      late += (late.empty() ? "rank " : ", rank ") + std::to_string(job_->near->ranks()[i]);
  }
  if (!late.empty()) return late;
  if (!job_->near) return transport::awaited();
  return job_->has_far() ? "ranks of other nodes" : "MPI";
}

bool mpi::is_crowded(unsigned workers) const noexcept {
  return job_->cores_here < job_->ranks_here * workers;
}

std::shared_ptr<std::byte> mpi::share_memory(std::size_t size, memory_name& name) {
  if (!job_->near || !job_->near->knows_processes()) return nullptr;
  return detail::make_shared_pages(size, name);
}

std::shared_ptr<std::byte> mpi::map_memory(int of, const memory_name& name) {
  if (!job_->near || !job_->near->knows_processes()) return nullptr;
  if (!job_->on_node[static_cast<std::size_t>(of)]) return nullptr;
  return detail::map_shared_pages(name);
}

}  // namespace teff
