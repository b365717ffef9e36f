// Tasks chained by events: each is spawned for itself.
#include <cstdint>
#include <memory>

#include "shard.hpp"
#include "sharded.hpp"

namespace {

class events final : public shard {
 public:
  using shard::shard;
  static constexpr const char* variant = "events";

  void run_all() {
    for (std::int64_t timestep = 0; timestep < run_.work.steps(); ++timestep) spawn_timestep(timestep);
    wait();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return teff::graphs::drive(argc, argv,
                             [](int workers) { return std::make_unique<sharded<events>>(workers); });
}
