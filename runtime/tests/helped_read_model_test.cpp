// A read with help of the process that owns the memory, on its interleavings. Each part arrives once. When
// the read has ended, no thread reads that memory any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "interleavings.hpp"
#include "mpi/helped_read.hpp"

namespace teff::test {
namespace {

using checked::checker;

// A fault in the code, which the checker finds.
enum class fault { none, releases_nothing, frees_before_it_has_read, fills_what_is_full };

// Words whose stores may lack their release.
struct words {
  static inline bool release = true;
  template <class T>
  struct atomic : checked::atomic<T> {
    using checked::atomic<T>::atomic;
    void store(T value, std::memory_order order) {
      checked::atomic<T>::store(value, release ? order : std::memory_order_relaxed);
    }
  };
};

constexpr std::size_t places = 1;

struct unreadable {};

// The owner's memory, with a value for each part, is read in two reads of one half each. The owner overwrites
// the first half after the first read.
struct world {
  explicit world(fault left_out) : with(left_out) { words::release = with != fault::releases_nothing; }
  const fault with;
  static constexpr std::uint64_t parts = 4;
  std::array<checked::plain, 2 * parts> memory;
  detail::helped_read<words, places> shared;
  detail::reading_end<words, places> reader{shared, 1, {.for_help = 1, .for_copy = 1}};
  detail::helping_end<words, places> helper{shared, 1};
  struct place_of_copy {
    checked::atomic<std::uint32_t> full{0};
    checked::plain value;
  };
  std::array<place_of_copy, places> copies;

  void fill() {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i].write(value_of(i));
  }
  static int value_of(std::size_t at) { return static_cast<int>(at) + 10; }

  // `unreadable_part`: the reader's own read of this part fails.
  void read(std::uint64_t address, std::optional<std::uint64_t> unreadable_part = std::nullopt) {
    std::array<int, parts> came{};
    const auto arrive = [&](std::uint64_t offset, int value) {
      if (came[offset] != 0) checker::fail("a part came twice");
      came[offset] = value;
    };
    bool thrown = false;
    try {
      reader.run(
          address, parts,
          [&](const detail::read_parts::range& of) {
            if (of.offset == unreadable_part) throw unreadable();
            arrive(of.offset, memory[address + of.offset].read());
          },
          [&](std::size_t place, const detail::read_parts::range& of) {
            auto& copy = copies[place];
            if (with == fault::frees_before_it_has_read) copy.full.store(0, std::memory_order_release);
            arrive(of.offset, copy.value.read());
            if (with != fault::frees_before_it_has_read) copy.full.store(0, std::memory_order_release);
          },
          [&] {
            const auto arrived = std::ranges::count_if(came, [](int value) { return value != 0; });
            const bool is_copied = std::ranges::any_of(shared.copied, [&](const auto& each) {
              return each.peek() != 0 && came[each.peek() - 1] == 0;
            });
            const auto claimed = shared.part_in(shared.next.peek());
            if (claimed > static_cast<std::uint64_t>(arrived) && !is_copied) checker::now().pause();
          });
    } catch (const unreadable&) {
      thrown = true;
    }
    for (std::size_t i = 0; i < parts && !thrown; ++i) {
      if (came[i] != value_of(address + i)) checker::fail("another value than was there");
    }
  }
  void reuse(std::uint64_t address) {
    for (std::size_t i = 0; i < parts; ++i) memory[address + i].write(-1);
  }
  void help(int times) {
    for (int i = 0; i < times; ++i) {
      helper.help(
          [&]() -> std::optional<std::uint32_t> {
            for (std::uint32_t i = 0; i < places; ++i) {
              auto& full = copies[i].full;
              if (full.load(std::memory_order_acquire) != 0 && with != fault::fills_what_is_full) continue;
              full.store(1, std::memory_order_relaxed);
              return i;
            }
            return std::nullopt;
          },
          [&](std::uint32_t place) { copies[place].full.store(0, std::memory_order_release); },
          [&](std::uint32_t place, std::uint64_t address, std::size_t size) {
            if (size != 1) checker::fail("another size than a part's");
            copies[place].value.write(memory[address].read());
          });
    }
  }
};

checker::outcome check(fault with, int helps, int preemptions,
                       std::optional<std::uint64_t> unreadable_part = std::nullopt) {
  return checked::check_threads<world>([with] { return std::make_shared<world>(with); },
                                       {[=](world& w) {
                                          w.fill();
                                          w.read(0, unreadable_part);
                                          w.reuse(0);
                                          w.read(world::parts);
                                        },
                                        [helps](world& w) { w.help(helps); }},
                                       [](world&) {}, preemptions);
}

TEST(helped_read_model, each_part_arrives_once_and_afterwards_nobody_reads) {
  expect_no_fault(check(fault::none, 4, 3));
  expect_no_fault(check(fault::none, 2, 4));
}

TEST(helped_read_model, a_read_that_fails_is_waited_for_as_well) {
  expect_no_fault(check(fault::none, 3, 3, 0));
  expect_no_fault(check(fault::none, 3, 3, 1));
}

TEST(helped_read_model, finds_words_that_are_published_without_a_release) {
  EXPECT_NE(check(fault::releases_nothing, 2, 3).fault, "");
}

TEST(helped_read_model, finds_a_reader_that_frees_a_copy_before_it_has_read_it) {
  EXPECT_NE(check(fault::frees_before_it_has_read, 3, 4).fault, "");
}

TEST(helped_read_model, finds_a_helper_that_fills_a_place_that_is_full) {
  EXPECT_NE(check(fault::fills_what_is_full, 3, 3).fault, "");
}

}  // namespace
}  // namespace teff::test
