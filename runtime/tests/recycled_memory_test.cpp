#include <teff/detail/task_source/recycled_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

using detail::give_recycled;
using detail::take_recycled;

struct block {
  std::byte* memory;
  std::size_t bytes;
  std::uint8_t value;
};

block taken(std::size_t bytes, std::uint8_t value) {
  auto* const memory = static_cast<std::byte*>(take_recycled(bytes));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 128, 0U);
  std::memset(memory, value, bytes);
  return {memory, bytes, value};
}

void give(const block& back) {
  for (std::size_t i = 0; i < back.bytes; ++i)
    ASSERT_EQ(back.memory[i], static_cast<std::byte>(back.value)) << "somebody else has it, too";
  give_recycled(back.memory, back.bytes);
}

TEST(recycled_memory, belongs_to_one_at_a_time) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<block> held;
  for (std::uint8_t time = 0; time < 250; ++time) {
    const std::size_t sizes[] = {64, 640, 2688, 9000, 100'000};
    held.push_back(taken(sizes[random() % 5], time));
    if (random() % 2 == 0) {
      std::swap(held[random() % held.size()], held.back());
      give(held.back());
      held.pop_back();
    }
  }
  for (const auto& each : held) give(each);
}

TEST(recycled_memory, may_be_given_back_on_another_thread_which_ends) {
  for (int time = 0; time < 20; ++time) {
    std::vector<block> made;
    for (std::uint8_t i = 0; i < 12; ++i) made.push_back(taken(640, i));
    std::thread([&made] {
      for (const auto& each : made) give(each);
      const auto again = taken(640, 99);
      give(again);
    }).join();
  }
}

}  // namespace
}  // namespace teff::test
