// Arguments of messages, to bytes and back, and from spoilt bytes.
#include <gtest/gtest.h>
#include <teff/detail/message/arguments.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "workers.hpp"

namespace teff::test {

// A class that names its parts.
class triangle {
 public:
  triangle(int rows, std::vector<double> values) : rows_(rows), values_(std::move(values)) {
    if (rows < 0) throw std::invalid_argument("a triangle of so few rows");
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  bool operator==(const triangle&) const = default;

 private:
  int rows_;
  std::vector<double> values_;
};

}  // namespace teff::test

template <>
struct teff::message_parts<teff::test::triangle> {
  static auto of(const test::triangle& each) {
    return std::tuple(each.rows(), std::span<const double>(each.values()));
  }
  static test::triangle made_of(int rows, std::span<const double> values) {
    return {rows, {values.begin(), values.end()}};
  }
};

namespace teff::test {
namespace {

enum class colour : std::uint8_t { red, green };
enum class answer : bool { no, yes };

struct point {
  double x;
  double y;
  bool operator==(const point&) const = default;
};
struct particle {
  point at;
  std::string name;
  std::vector<int> bonds;
  bool fixed;
  bool operator==(const particle&) const = default;
};
struct switched {
  int level;
  bool on;
  bool operator==(const switched&) const = default;
};

// Bytes aligned for a message's arguments, with nothing behind them.
class message_bytes {
 public:
  explicit message_bytes(std::span<const std::byte> bytes)
      : size_(bytes.size()),
        memory_(
            static_cast<std::byte*>(::operator new(size_, std::align_val_t{detail::argument_alignment}))) {
    std::ranges::copy(bytes, memory_.get());
  }
  [[nodiscard]] std::span<const std::byte> span() const { return {memory_.get(), size_}; }

 private:
  struct freed {
    void operator()(std::byte* at) const {
      ::operator delete(at, std::align_val_t{detail::argument_alignment});
    }
  };
  std::size_t size_;
  std::unique_ptr<std::byte, freed> memory_;
};

template <class... Arguments>
std::vector<std::byte> bytes_with(const Arguments&... arguments) {
  const detail::outgoing<Arguments...> all(arguments...);
  std::vector<std::byte> bytes(all.size);
  all.write(all.of, bytes.data());
  return bytes;
}

template <class... Arguments>
void expect_same_after_travel(const Arguments&... arguments) {
  const message_bytes bytes(bytes_with(arguments...));
  EXPECT_EQ((detail::take_arguments<Arguments...>(bytes.span())), std::tuple(arguments...));
}

using shape = std::variant<std::monostate, int, std::string, point>;

// A value of each kind.
template <class Use>
auto with_everything(std::mt19937_64& random, Use use) {
  const auto small = [&] { return static_cast<std::size_t>(random() % 5); };
  const auto word = [&] { return std::string(small(), static_cast<char>('a' + random() % 26)); };
  std::map<std::string, std::vector<int>> table;
  for (auto n = small(); n != 0; --n) table[word()] = std::vector<int>(small(), 7);
  const shape shapes[] = {std::monostate{}, 3, word(), point{1, 2}};
  std::optional<particle> maybe;
  if (random() % 2 == 0) maybe = particle{{1, 2}, word(), {1, 2, 3}, random() % 2 == 0};
  return use(static_cast<int>(random()), word(), std::vector<double>(small(), 1.5), table,
             shapes[random() % 4], maybe, std::array<std::string, 2>{word(), word()},
             std::vector<bool>(small(), true), std::set<int>{1, 2, 3}, colour::green, answer::yes,
             switched{1, true}, triangle(2, std::vector<double>(small(), 0.5)));
}

TEST(arguments, are_the_same_after_their_travel) {
  expect_same_after_travel();
  expect_same_after_travel(1, 2.5, 'c', true, colour::green, answer::yes, std::int64_t{-1}, 1.0L);
  expect_same_after_travel(std::string("text"), std::string(), std::vector<double>{1, 2}, std::vector<int>{});
  expect_same_after_travel(std::pair(1, std::string("one")), std::tuple<>(), std::tuple(1, true, 'c'));
  expect_same_after_travel(std::array<int, 3>{1, 2, 3}, std::array<std::string, 2>{"a", "b"},
                           std::array<int, 0>{}, std::vector<std::array<int, 2>>{{1, 2}, {3, 4}});
  expect_same_after_travel(std::optional<int>(), std::optional(5), std::optional(std::string("five")));
  expect_same_after_travel(shape(), shape(1), shape("two"), shape(point{3, 4}));
  expect_same_after_travel(std::map<std::string, int>{{"a", 1}, {"b", 2}},
                           std::unordered_map<int, std::string>{{1, "a"}}, std::set<std::string>{"x", "y"});
  expect_same_after_travel(std::deque<int>{1, 2}, std::list<std::string>{"a"}, std::vector<bool>{true, false},
                           std::vector<std::vector<std::string>>{{"a"}, {}, {"b", "c"}});
  expect_same_after_travel(point{1, 2}, particle{{1, 2}, "helium", {1, 2}, true}, switched{3, true});
  expect_same_after_travel(triangle(2, {1, 2, 3}), std::vector<triangle>{{1, {1}}, {0, {}}});
}

TEST(arguments, random_ones_are_the_same_after_their_travel) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round)
    with_everything(random, [](const auto&... all) { expect_same_after_travel(all...); });
}

TEST(arguments, views_show_the_bytes_that_came_at_an_aligned_address) {
  const std::vector<double> values{1, 2, 3};
  const message_bytes bytes(bytes_with('c', std::span<const double>(values), std::string_view("text"),
                                       std::span<const double, 3>(values)));
  const auto [c, view, text, three] =
      detail::take_arguments<char, std::span<const double>, std::string_view, std::span<const double, 3>>(
          bytes.span());
  EXPECT_EQ(c, 'c');
  EXPECT_EQ(std::vector(view.begin(), view.end()), values);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(three[2], 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data()) % alignof(double), 0);
  EXPECT_GE(reinterpret_cast<const std::byte*>(view.data()), bytes.span().data());
  EXPECT_LE(reinterpret_cast<const std::byte*>(view.data() + view.size()),
            bytes.span().data() + bytes.span().size());
}

TEST(arguments, what_a_vector_sends_a_span_receives) {
  const std::vector<int> sent{1, 2, 3};
  const message_bytes bytes(bytes_with(sent, std::string("text")));
  const auto [view, text] = detail::take_arguments<std::span<const int>, std::string_view>(bytes.span());
  EXPECT_EQ(std::vector(view.begin(), view.end()), sent);
  EXPECT_EQ(text, "text");
}

template <class... Arguments>
void expect_refusal(const std::vector<std::byte>& bytes, const std::string& why) {
  const message_bytes exact{bytes};
  try {
    static_cast<void>(detail::take_arguments<Arguments...>(exact.span()));
    ADD_FAILURE() << "not refused: " << why;
  } catch (const malformed_message& e) {
    EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
  }
}

TEST(arguments, bytes_that_make_no_value_are_refused_by_name) {
  auto truth = bytes_with(true);
  truth[0] = std::byte{2};
  expect_refusal<bool>(truth, "neither true nor false");
  expect_refusal<answer>(truth, "neither true nor false");
  auto within = bytes_with(switched{1, true});
  within.back() = std::byte{7};
  expect_refusal<switched>(within, "neither true nor false");
  auto chosen = bytes_with(shape(1));
  chosen[0] = std::byte{4};
  expect_refusal<shape>(chosen, "an alternative that a variant does not have");
  auto counted = bytes_with(std::vector<int>{1, 2});
  counted[7] = std::byte{0xff};  // 2^63 elements and more
  expect_refusal<std::vector<int>>(counted, "end too early");
  expect_refusal<std::vector<std::string>>(counted, "end too early");
  expect_refusal<std::map<int, int>>(counted, "end too early");
  expect_refusal<std::span<const int, 3>>(bytes_with(std::vector<int>{1, 2}), "another number of elements");
  expect_refusal<int>(bytes_with(1, 'c'), "go on where they should end");
  expect_refusal<int, char>(bytes_with(1), "end too early");
}

TEST(arguments, no_beginning_of_a_message_is_taken_for_all_of_it) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    with_everything(random, []<class... All>(const All&... all) {
      const auto bytes = bytes_with(all...);
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        const message_bytes part(std::span<const std::byte>(bytes).first(size));
        EXPECT_THROW(static_cast<void>(detail::take_arguments<All...>(part.span())), malformed_message)
            << size;
      }
    });
  }
}

// Under the sanitizers this shows that the reader reads nothing beyond the bytes, and makes no invalid value.
TEST(arguments, spoilt_bytes_are_refused_or_make_other_values) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  int refused = 0;
  int taken = 0;
  for (int round = 0; round < 4000; ++round) {
    with_everything(random, [&]<class... All>(const All&... all) {
      auto bytes = bytes_with(all...);
      for (auto n = random() % 3; n != 0; --n)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
      if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 16));
      const message_bytes spoilt{bytes};
      try {
        const auto read = detail::take_arguments<All...>(spoilt.span());
        // Any bytes that are accepted make a value, which can travel on.
        std::apply([](const auto&... each) { static_cast<void>(bytes_with(each...)); }, read);
        ++taken;
      } catch (const malformed_message&) {
        ++refused;
      } catch (const std::invalid_argument&) {
        ++refused;  // by the triangle
      }
    });
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace teff::test
