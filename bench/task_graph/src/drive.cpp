#include "teff/bench/drive.hpp"

#include <optional>

#include "measured_run.hpp"
#include "task_graph_benchmark.hpp"
#include "teff/graphs/adapter.hpp"

namespace teff::graphs {
namespace {

/// An adapter that runs one configuration after the other.
class adapter_runner final : public bench::runner {
 public:
  explicit adapter_runner(std::unique_ptr<adapter> system) : system_(std::move(system)) {}

  [[nodiscard]] bench::identity describe() const override { return system_->describe(); }
  [[nodiscard]] bench::ranks& processes() override { return *system_; }
  void prepare(const bench::flags& of_run) override {
    ready_.reset();
    ready_.emplace(parse_configuration(of_run), system_->local_workers());
  }
  [[nodiscard]] bench::answer run() override {
    std::string error;
    try {
      system_->run(ready_->load());
    } catch (const std::exception& failure) {
      error = bench::reason_of(failure);
    }
    const outcome mine = ready_->finish(std::move(error));
    const record run =
        validate(system_->describe(), ready_->load(), system_->gather(mine), ready_->started_at());
    ready_.reset();  // between two runs of a batch it holds no memory
    return to_answer(run);
  }

 private:
  std::unique_ptr<adapter> system_;
  std::optional<measured_run> ready_;
};

}  // namespace

int drive(int argc, char** argv, const std::function<std::unique_ptr<adapter>(int workers)>& make,
          int workers) {
  const auto start = [&](int count) -> std::unique_ptr<bench::runner> {
    std::unique_ptr<adapter> system = make(count);
    if (!system) return nullptr;
    return std::make_unique<adapter_runner>(std::move(system));
  };
  return bench::drive(argc, argv, task_graph_benchmark(), start, workers);
}

bool needs_system(int argc, char** argv) {
  return bench::needs_system(argc, argv, task_graph_benchmark());
}

}  // namespace teff::graphs
