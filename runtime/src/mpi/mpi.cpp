// Packets by non-blocking point to point. Every call of MPI is made under one lock: SERIALIZED is enough.
#include <teff/error.hpp>
#include <teff/mpi.hpp>

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace teff {

namespace {

// A packet is sent as blocks, so that its size in blocks fits an int up to 32 GiB; the tag says how many
// bytes the last block lacks. Tags do not change the order: the receiver takes packets of any tag.
constexpr std::size_t block = detail::argument_alignment;

int blocks_of(std::size_t size) {
  const auto blocks = (size + block - 1) / block;
  if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw misuse("teff::mpi: a packet of more than 32 GiB");
  return static_cast<int>(blocks);
}

}  // namespace

class mpi::job {
 public:
  job(int& argc, char**& argv) {
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
      throw misuse("teff::mpi: MPI is not initialised at MPI_THREAD_SERIALIZED");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
  }
  ~job() {
    MPI_Type_free(&blocks);
    if (ours_) MPI_Finalize();
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  // Returns when the request has completed, without keeping others from MPI meanwhile.
  void complete(MPI_Request& request) {
    for (int done = 0; done == 0; std::this_thread::yield()) {
      const std::lock_guard lock(mutex);
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
  }

  std::mutex mutex;  // of all calls of MPI
  int rank = 0;
  int ranks = 1;
  MPI_Datatype blocks = MPI_DATATYPE_NULL;

 private:
  bool ours_ = false;
};

// A communicator of MPI for each channel, so that none takes another's packets.
class mpi::line final : public channel {
 public:
  explicit line(std::shared_ptr<job> of)
      : job_(std::move(of)), under_way_(static_cast<std::size_t>(job_->ranks)) {
    MPI_Request made = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(job_->mutex);
      MPI_Comm_idup(MPI_COMM_WORLD, &all_, &made);
    }
    job_->complete(made);
  }

  // What has come for nobody is received and forgotten, until no rank sends any more.
  ~line() override {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool entered = false;
    for (int over = 0; over == 0; std::this_thread::yield()) {
      while (line::receive()) {
      }
      const std::lock_guard lock(job_->mutex);
      end_sends();
      if (!entered && sends_.empty()) {
        MPI_Ibarrier(all_, &barrier);
        entered = true;
      }
      if (entered) MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
    }
    while (line::receive()) {
    }
    const std::lock_guard lock(job_->mutex);
    MPI_Comm_free(&all_);
  }

  void send(int to, packet bytes) override {
    const auto size = bytes.size();
    const auto lacking = (block - size % block) % block;
    if (lacking != 0) bytes.append(lacking);
    const int count = blocks_of(size);
    const std::lock_guard lock(job_->mutex);
    under_way_[static_cast<std::size_t>(to)].fetch_add(1, std::memory_order_relaxed);
    auto& sent = sends_.emplace_back(sent_packet{to, std::move(bytes), MPI_REQUEST_NULL});
    MPI_Isend(sent.bytes.data(), count, job_->blocks, to, static_cast<int>(lacking), all_, &sent.request);
    end_sends();
  }

  std::optional<arrival> receive() override {
    const std::lock_guard lock(job_->mutex);
    end_sends();
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

  [[nodiscard]] bool has_arrivals() const noexcept override { return false; }
  [[nodiscard]] bool is_polled() const noexcept override { return true; }
  [[nodiscard]] std::size_t under_way(int to) const noexcept override {
    return under_way_[static_cast<std::size_t>(to)].load(std::memory_order_relaxed);
  }
  void on_arrival(std::function<void()> /*tell*/) override {}

 private:
  struct sent_packet {
    int to;
    packet bytes;
    MPI_Request request;
  };
  // Forgets the packets that have left. Under the lock.
  void end_sends() {
    for (auto each = sends_.begin(); each != sends_.end();) {
      int left = 0;
      MPI_Test(&each->request, &left, MPI_STATUS_IGNORE);
      if (left == 0) {
        ++each;
        continue;
      }
      under_way_[static_cast<std::size_t>(each->to)].fetch_sub(1, std::memory_order_relaxed);
      each = sends_.erase(each);
    }
  }

  std::shared_ptr<job> job_;
  MPI_Comm all_ = MPI_COMM_NULL;
  std::list<sent_packet> sends_;  // under the lock
  std::vector<std::atomic<std::size_t>> under_way_;
};

mpi::mpi(int& argc, char**& argv) : job_(std::make_shared<job>(argc, argv)) {}

mpi::~mpi() = default;

int mpi::rank() const noexcept {
  return job_->rank;
}

int mpi::ranks() const noexcept {
  return job_->ranks;
}

std::unique_ptr<channel> mpi::open() {
  return std::make_unique<line>(job_);
}

}  // namespace teff
