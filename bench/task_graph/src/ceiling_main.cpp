// The ceiling: the rate of the kernels on all cores with no runtime at all, and how far apart the cores are.
// Pinned threads, each with its own points, no dependences; run it with -type trivial.
#include "ceiling_share.hpp"
#include "teff/bench/pinned_threads.hpp"
#include "teff/bench/round_trip.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class ceiling final : public adapter {
 public:
  explicit ceiling(int workers) : threads_(count_pinned_threads(workers)) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "ceiling", .variant = "pinned_threads", .version = "1", .workers = threads_};
  }

  void run(workload& work) override {
    expect_no_dependences(work);
    run_on_pinned_threads(
        threads_, [&] { work.start(); },
        [&](int worker) {
          for (std::size_t i = 0; i < work.graphs(); ++i)
            execute_share(work, i, {0, work.graph(i).width - 1}, worker, threads_);
        });
    work.stop();
    work.note_round_trip(measure_round_trip(threads_));
  }

 private:
  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<ceiling>(workers); });
}
