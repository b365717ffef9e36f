// The mini-apps by calls, on one core.
#include <string>

#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

class apps_system final : public system {
 public:
  explicit apps_system(int /*workers*/) { teff::bench::bind_to_core(0); }

  [[nodiscard]] teff::bench::identity describe() const override {
    return {
        .system = "serial", .variant = "calls", .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE)};
  }
  [[nodiscard]] bool has(way_kind how) const override { return how == way_kind::loops; }
  counts run_steps(way_kind /*how*/, std::int64_t /*parts*/, const program& steps,
                   teff::bench::region_meter& region) override {
    loops each([](std::int64_t count, const auto& body) { body({0, count}); });
    region.start();
    steps(each);
    region.stop();
    return {};
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive<apps_system>(argc, argv);
}
