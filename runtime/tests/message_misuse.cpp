// Compiled only for its errors: CASE selects one. tests/CMakeLists.txt knows the text of each error.
#include <teff/message.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

class opaque {
 public:
  explicit opaque(int secret) : secret_(std::make_unique<int>(secret)) {}

 private:
  std::unique_ptr<int> secret_;
};

void misuse(teff::communicator& comm) {
#if CASE == 1
  static_cast<void>(comm.on([](auto) {}));
#elif CASE == 2
  static_cast<void>(comm.on([](int&) {}));
#elif CASE == 3
  static_cast<void>(comm.on([](std::span<double>) {}));
#elif CASE == 4
  comm.on([](const int*) {}).send(0, nullptr);
#elif CASE == 5
  comm.on([](const opaque&) {}).send(0, opaque(1));
#elif CASE == 6
  comm.on([](std::span<const std::vector<int> >) {}).send(0, {});
#elif CASE == 7
  static_cast<void>(comm.on([](std::shared_ptr<int>) {}));
#elif CASE == 8
  static_cast<void>(comm.on([](std::span<const std::string>) {}));
#else
  comm.on([](int, std::span<const double>) {}).send(0, 1, std::vector<double>(3));  // is right
#endif
}
