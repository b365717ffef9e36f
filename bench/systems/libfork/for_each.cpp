// libfork's for_each over the columns of each timestep, down to one column: a tree of coroutines that each
// fork one half and call the other. Its join is the dependence. One coroutine goes through the timesteps, in
// whichever worker the join before left it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>

#include "pool.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/timesteps.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

using workers_pool = pool<TEFF_POOL>;

/// Not inline: a coroutine might keep the address of the former thread's local variables.
[[gnu::noinline]] void execute(timesteps& all, std::int64_t timestep, std::size_t column) {
  all.execute(timestep, column, workers_pool::here());
}

constexpr auto one_after_another = [](auto, timesteps* all) LF_STATIC_CALL -> lf::task<> {
  const auto columns = std::views::iota(std::size_t{0}, all->columns());
  all->work().start();
  for (std::int64_t timestep = 0; timestep < all->count(); ++timestep)
    co_await lf::call(lf::for_each)(columns.begin(), columns.end(),
                                    [all, timestep](std::size_t column) { execute(*all, timestep, column); });
  all->work().stop();
};

class for_each final : public adapter {
 public:
  explicit for_each(int workers) : pool_(workers) {}

  [[nodiscard]] identity describe() const override { return pool_.describe(TEFF_VARIANT); }

  void run(workload& work) override {
    timesteps all(work);
    pool_.wake_all();
    lf::sync_wait(pool_.get(), one_after_another, &all);
  }

 private:
  workers_pool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<for_each>(workers); });
}
