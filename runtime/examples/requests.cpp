// A server in miniature: requests come from a thread that is no worker, look things up in a slow store, and
// are answered in the order in which they are asked for.
#include <teff/teff.hpp>

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

// Stands for a database: the thread that calls it sleeps.
int stored_price(int item) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return 100 + item;
}

// Other tasks have the worker while the store takes its time.
int price(int item) {
  return teff::blocking([=] { return stored_price(item); });
}

teff::future<int> total(teff::runtime& rt, std::vector<int> items) {
  std::vector<teff::future<int>> prices;
  for (const int item : items) prices.push_back(rt.submit([=] { return price(item); }));
  int sum = 0;
  for (const int each : co_await teff::when_all(std::move(prices))) sum += each;
  co_return sum;
}

}  // namespace

int main() {
  teff::runtime rt{{.workers = 2}};

  teff::future<int> order = total(rt, {1, 2, 3, 4, 5});
  teff::future<std::string> bill =
      total(rt, {6, 7}).then([](int sum) { return "pay " + std::to_string(sum); });

  auto [index, asked] = teff::when_any(rt.submit([] { return price(8); }), rt.submit([] { return 9; })).get();

  std::stop_source stop;
  stop.request_stop();
  teff::future<int> withdrawn = rt.submit(stop.get_token(), [] { return price(10); });

  const std::string text = bill.get();
  const int sum = order.get();
  bool stopped = false;
  try {
    withdrawn.get();
  } catch (const teff::request_stopped&) {
    stopped = true;
  }
  std::printf("%s; the order costs %d; answer %zu of 2 came first\n", text.c_str(), sum, index + 1);
  return sum == 515 && text == "pay 213" && stopped ? 0 : 1;
}
