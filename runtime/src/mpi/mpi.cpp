// Packets between ranks of a node go through rings in shared memory (rings.md), all others by non-blocking
// point to point. One lock guards all calls of MPI, so the level SERIALIZED is enough.
#include <teff/detail/exceptions.hpp>
#include <teff/detail/message/rank_table.hpp>
#include <teff/detail/trace/recording.hpp>
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include "mpi/mpi_bytes.hpp"
#include "mpi/node.hpp"
#include "mpi/process_memory.hpp"
#include "mpi/task_requests.hpp"
#include "platform/futex.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace teff {

namespace detail {

namespace {

// The cores that ranks of this communicator may use.
unsigned cores_of(MPI_Comm all) noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, all);
  // If the machine has more cores than a set can hold, there are enough.
  const auto known = static_cast<unsigned>(CPU_COUNT(&cores));
  return known != 0 ? known : UINT_MAX;
}

}  // namespace

// The job of this process: its ranks, and the state that all of its channels share.
class mpi_job {
 public:
  // Its class is declared in a public header, but a shared library does not export it.
  [[gnu::visibility("hidden")]] mpi_job(int& argc, char**& argv, const mpi_options& how);
  [[gnu::visibility("hidden")]] ~mpi_job();

  std::mutex& mutex = mpi_calls();
  int rank = 0;
  int ranks = 1;
  unsigned ranks_of_node = 1;
  unsigned cores_of_node = 1;  // that these ranks may use
  std::optional<task_messages> tasks;
  std::optional<node> near;                           // none: the job uses no rings
  rank_table<std::size_t> on_node;                    // of each rank of this node: its number there
  std::atomic<std::uint32_t> opened{0};               // channels so far
  const int exceptions = std::uncaught_exceptions();  // when the job began

  [[nodiscard]] bool has_far() const noexcept {
    return !near || near->ranks().size() < static_cast<std::size_t>(ranks);
  }

 private:
  bool ours_ = false;
};

mpi_job::mpi_job(int& argc, char**& argv, const mpi_options& how) {
  if (how.silence != decltype(how.silence){} && how.silence < mpi_options{}.silence)
    throw invalid_option("teff::mpi: a silence of " + std::to_string(how.silence.count()) +
                         " s; it must be 0 (for ever) or at least 4");
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) throw misuse("teff::mpi: MPI was finalised");
  int level = 0;
  if (initialized != 0) {
    MPI_Query_thread(&level);
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    ours_ = true;
  }
  if (level < MPI_THREAD_SERIALIZED)
    throw misuse(
        "teff::mpi: MPI is not initialised at MPI_THREAD_SERIALIZED (MPI_Init_thread), nor at a higher "
        "level");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm same_node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &same_node);
  int near_ranks = 1;
  int number = 0;
  MPI_Comm_size(same_node, &near_ranks);
  MPI_Comm_rank(same_node, &number);
  ranks_of_node = static_cast<unsigned>(near_ranks);
  cores_of_node = cores_of(same_node);
  std::random_device random;
  std::uint64_t name = std::uint64_t{random()} << 32 | random();
  MPI_Bcast(&name, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  belong_to_job({rank, ranks, name, near_ranks == ranks});
  tasks.emplace();
  // All ranks use rings, and all ranks read memory, or none does.
  const bool rings = how.rings && (number != 0 || node::finds_room(ranks_of_node));
  std::array<int, 2> with{rings ? 1 : 0, how.reads_memory ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, with.data(), 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (with[0] == 0) {
    MPI_Comm_free(&same_node);
    return;
  }
  near.emplace(same_node, with[1] != 0, how.silence);
  for (std::size_t i = 0; i < near->ranks().size(); ++i) on_node.at(near->ranks()[i]) = i;
}

mpi_job::~mpi_job() {
  near.reset();
  tasks.reset();
  if (ours_) MPI_Finalize();
}

}  // namespace detail

namespace {

constexpr int packet_tag = 0;
// The tags of the data of large messages follow. The receiver has posted its receive before the sender sends
// the data, so that they are not taken for a packet.
constexpr int first_data_tag = 1;

// Each channel has an MPI communicator, so that no channel takes packets of another.
class mpi_channel final : public channel {
 public:
  explicit mpi_channel(std::shared_ptr<detail::mpi_job> of)
      : job_(std::move(of)),
        near_(job_->near ? &*job_->near : nullptr),
        number_(job_->opened.fetch_add(1)),
        inbox_(near_ != nullptr ? &near_->rings().open(number_) : nullptr),
        polled_(job_->has_far() || !detail::futex_vector::available()) {
    MPI_Request made = MPI_REQUEST_NULL;
    for (int done = 0; done == 0; std::this_thread::yield()) {
      const std::lock_guard lock(job_->mutex);  // other threads may call MPI meanwhile
      if (all_ == MPI_COMM_NULL) MPI_Comm_idup(MPI_COMM_WORLD, &all_, &made);
      MPI_Test(&made, &done, MPI_STATUS_IGNORE);
    }
  }

  // Receives and drops packets until no rank sends any more.
  ~mpi_channel() override {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool entered = false;
    for (int over = 0; over == 0; std::this_thread::yield()) {
      while (mpi_channel::receive()) {
      }
      const std::lock_guard lock(job_->mutex);
      end_some();
      if (!entered && all_left() && (near_ == nullptr || !near_->rings().has_waiting())) {
        MPI_Ibarrier(all_, &barrier);
        entered = true;
      }
      if (entered) MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
    }
    while (mpi_channel::receive()) {
    }
    if (near_ != nullptr) {
      near_->rings().close(number_);
      near_->copies().close(number_);
    }
    const std::lock_guard lock(job_->mutex);
    MPI_Comm_free(&all_);
  }

  void send(int to, packet&& bytes) override {
    if (const auto* const near = job_->on_node.find(to))
      return near_->rings().send(number_, *near, std::move(bytes));
    const detail::mpi_bytes memory(bytes.size());
    const auto* const from = bytes.data();
    begin({to, std::move(bytes), {}}, [&](MPI_Request* request) {
      MPI_Isend(from, memory.count(), memory.type(), to, packet_tag, all_, request);
    });
  }

  std::optional<arrival> receive() override {
    if (inbox_ != nullptr) {
      if (auto came = near_->rings().receive(*inbox_)) {
        came->from = near_->ranks()[static_cast<std::size_t>(came->from)];
        return came;
      }
      near_->copies().help();
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
    return detail::receive_any(all_);
  }

  [[nodiscard]] bool has_arrivals() const noexcept override {
    return inbox_ != nullptr && (near_->rings().has_arrivals(*inbox_) || near_->copies().is_asked());
  }
  // MPI does not tell when data have come or left.
  [[nodiscard]] bool is_polled() const noexcept override {
    return polled_ || moves_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool rings() const noexcept override {
    return inbox_ != nullptr && detail::futex_vector::available();
  }
  [[nodiscard]] std::optional<detail::doorbell> listen(std::uint32_t sleeper) noexcept override {
    if (!mpi_channel::rings()) return std::nullopt;
    return near_->rings().listen(sleeper);
  }
  void rise(std::uint32_t sleeper) noexcept override {
    if (mpi_channel::rings()) near_->rings().rise(sleeper);
  }
  [[nodiscard]] std::size_t under_way(int to) const noexcept override {
    if (const auto* const near = job_->on_node.find(to)) return near_->rings().under_way(*inbox_, *near);
    const auto* const sent = under_way_.find(to);
    return sent == nullptr ? 0 : sent->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_near(int to) const noexcept override { return job_->on_node.find(to) != nullptr; }
  void on_arrival(std::function<void()> tell) override {
    if (inbox_ != nullptr) near_->rings().on_arrival(*inbox_, std::move(tell));
  }

  [[nodiscard]] std::optional<std::uint32_t> deposit(int to, std::span<const std::byte> bytes) override {
    const auto* const near = job_->on_node.find(to);
    // A rank that may read this rank's memory makes the only copy.
    if (near == nullptr || near_->reads()) return std::nullopt;
    return near_->copies().put(number_, *near, bytes);
  }
  void withdraw(int from, std::uint32_t number, std::span<std::byte> to) override {
    near_->copies().take(*job_->on_node.find(from), number, to);
  }
  void take_back(int to, std::uint32_t number) override {
    near_->copies().take_back(*job_->on_node.find(to), number);
  }
  [[nodiscard]] bool reads(int from) const noexcept override {
    return job_->near && near_->reads() && job_->on_node.find(from) != nullptr;
  }
  void read(int from, std::uint64_t address, std::span<std::byte> to) override {
    const auto near = *job_->on_node.find(from);
    near_->copies().read(near, near_->process(near), address, to);
  }
  void expect(int from, int number, std::span<std::byte> to, packet then) override {
    const detail::mpi_bytes memory(to.size());
    begin({from, {}, std::move(then)}, [&](MPI_Request* request) {
      MPI_Irecv(to.data(), memory.count(), memory.type(), from, first_data_tag + number, all_, request);
    });
  }
  void supply(int to, int number, std::span<const std::byte> bytes, packet then) override {
    const detail::mpi_bytes memory(bytes.size());
    begin({job_->rank, {}, std::move(then)}, [&](MPI_Request* request) {
      MPI_Isend(bytes.data(), memory.count(), memory.type(), to, first_data_tag + number, all_, request);
    });
  }

 private:
  // Bytes on their way: a packet to `rank`, or large data. When large data have come or left, this rank
  // receives `then`, as a packet of `rank`.
  struct transfer {
    int rank;
    packet bytes;
    packet then;
  };
  // Whether all packets have left this rank.
  [[nodiscard]] bool all_left() noexcept {
    bool all = true;
    under_way_.each([&](int, const auto& packets) { all = all && packets == 0; });
    return all;
  }
  // Calls begins(request) under the lock, which begins the request of this transfer. Throws std::bad_alloc.
  template <class Begin>
  void begin(transfer of, Begin begins) {
    auto& count = of.then.empty() ? under_way_.at(of.rank) : moves_;
    const std::lock_guard lock(job_->mutex);
    requests_.push_back(MPI_REQUEST_NULL);
    detail::undo_if_thrown([&] { transfers_.push_back(std::move(of)); }, [&] { requests_.pop_back(); });
    begins(&requests_.back());
    count.fetch_add(1, std::memory_order_relaxed);
    end_some();
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
      const auto each = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
      auto ended = std::exchange(transfers_[each], std::move(transfers_.back()));
      requests_[each] = requests_.back();
      transfers_.pop_back();
      requests_.pop_back();
      if (ended.then.empty()) {
        under_way_.at(ended.rank).fetch_sub(1, std::memory_order_relaxed);
      } else {
        moved_.push_back({ended.rank, std::move(ended.then)});
      }
    }
  }

  std::shared_ptr<detail::mpi_job> job_;
  detail::node* const near_;  // null: the job uses no rings
  const std::uint32_t number_;
  detail::rings::inbox* const inbox_;  // null if near_ is
  const bool polled_;
  MPI_Comm all_ = MPI_COMM_NULL;
  // Guarded by the lock: requests that have not completed, the transfer of each at the same place, and the
  // places of those that have completed.
  std::vector<MPI_Request> requests_;
  std::vector<transfer> transfers_;
  std::vector<int> completed_;
  std::deque<arrival> moved_;          // guarded by the lock: data that have come or left
  std::atomic<std::size_t> moves_{0};  // large data on their way, and in moved_
  mutable detail::rank_table<std::atomic<std::size_t>> under_way_;  // packets, by rank
};

}  // namespace

mpi::mpi(int& argc, char**& argv, const mpi_options& how)
    : job_(std::make_shared<detail::mpi_job>(argc, argv, how)) {}

// The end of a job needs all ranks. If an exception leaves the job on this rank only, others may wait for its
// messages for ever. Then the program has to print the exception and to end, so the job is never destroyed.
mpi::~mpi() {
  static std::vector<std::shared_ptr<detail::mpi_job>>& left =
      *new std::vector<std::shared_ptr<detail::mpi_job>>;
  if (!job_->tasks->leave(std::uncaught_exceptions() > job_->exceptions)) left.push_back(std::move(job_));
}

int mpi::rank() const noexcept {
  return job_->rank;
}

int mpi::ranks() const noexcept {
  return job_->ranks;
}

std::unique_ptr<channel> mpi::open() {
  return std::make_unique<mpi_channel>(job_);
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
  return job_->cores_of_node < job_->ranks_of_node * workers;
}

std::shared_ptr<std::byte> mpi::share_memory(std::size_t size, memory_name& name) {
  if (!job_->near || !job_->near->knows_processes()) return nullptr;
  return detail::make_shared_pages(size, name);
}

std::shared_ptr<std::byte> mpi::map_memory(int of, const memory_name& name) {
  if (!job_->near || !job_->near->knows_processes()) return nullptr;
  if (job_->on_node.find(of) == nullptr) return nullptr;
  return detail::map_shared_pages(name);
}

}  // namespace teff
