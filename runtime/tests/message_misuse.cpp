// Messages that can't be (misuse.sh).
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

struct holder {
  std::unique_ptr<int> held;
};

void right(teff::communicator& comm) {
  comm.on([](int, std::span<const double>) {}).send(0, 1, std::vector<double>(3));
}

#ifdef MISUSE
void misuse(teff::communicator& comm) {
  static_cast<void>(comm.on([](auto) {}));  // error: whose parameters have types of their own
  static_cast<void>(comm.on([](int&) {}));  // error: takes its arguments by value or as const&
  static_cast<void>(
      comm.on([](std::span<double>) {}));            // error: may only read what a span of a message shows
  comm.on([](const int*) {}).send(0, nullptr);       // error: an address means nothing on another rank
  comm.on([](const opaque&) {}).send(0, opaque(1));  // error: specialise teff::message_parts for it
  // error: the elements of a view have to travel by their bytes
  comm.on([](std::span<const std::vector<int> >) {}).send(0, {});
  static_cast<void>(comm.on([](holder) {}));  // error: a structure with a field that can't be an argument
  static_cast<void>(comm.on([](std::shared_ptr<int>) {}));  // error: specialise teff::message_parts for it
  static_cast<void>(comm.on([](std::span<const std::string>) {}));  // error: the elements of a view
}
#endif
