// A process reads another one's memory part by part, and the other one helps where it can: it copies parts to
// where both see them, which is quicker (large.md, in src/message).
//
// `System` gives atomic<T>. tests/helped_read_model_test.cpp checks this code on its interleavings.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace teff::detail {

// What both share. There are so many places for copies.
template <class System, std::size_t places>
struct helped_read {
  template <class T>
  using atomic = typename System::template atomic<T>;

  // The number of the read, and below it the first part that nobody has claimed.
  static constexpr int number_at = 32;
  static constexpr std::uint64_t closed = (std::uint64_t{1} << number_at) - 1;  // as a part: there is none
  [[nodiscard]] static std::uint64_t part_in(std::uint64_t word) noexcept { return word & closed; }

  atomic<std::uint64_t> next{closed};
  // Of the read. Relaxed: `next` orders them.
  atomic<std::uint64_t> address{0};
  atomic<std::uint64_t> bytes{0};
  // By place: one more than the part whose copy lies there; 0: none.
  std::array<atomic<std::uint32_t>, places> copied{};
};

// What is read, in parts of one size but for the last.
struct read_parts {
  std::uint64_t bytes;
  std::size_t of_part;

  struct range {
    std::uint64_t offset;
    std::size_t size;
  };
  [[nodiscard]] std::uint64_t count() const noexcept { return (bytes + of_part - 1) / of_part; }
  [[nodiscard]] range at(std::uint64_t part) const noexcept {
    const auto offset = part * of_part;
    return {offset, static_cast<std::size_t>(std::min<std::uint64_t>(of_part, bytes - offset))};
  }
};

// So often who reads pauses before it reads a part itself: at the beginning and after a copy; and longer
// while one is being made, for the other process may have lost its core.
struct read_patience {
  int for_help;
  int for_copy;
};

// The end of the process that reads. One thread at a time uses it.
template <class System, std::size_t places>
class reading_end {
 public:
  using shared = helped_read<System, places>;
  reading_end(shared& with, std::size_t of_part, read_patience patience) noexcept
      : with_(with), of_part_(of_part), patience_(patience) {}

  // `read(range)` copies a part itself; `take(place, range)` copies what the other process has copied there,
  // and frees the place; `pause()` returns after a short time. Throws what read() throws. When it returns or
  // throws, the other process leaves that memory alone.
  template <class Read, class Take, class Pause>
  void run(std::uint64_t address, std::uint64_t bytes, Read read, Take take, Pause pause) {
    const read_parts parts{bytes, of_part_};
    with_.address.store(address, std::memory_order_relaxed);
    with_.bytes.store(bytes, std::memory_order_relaxed);
    // Release: both, to the acquire in help().
    with_.next.store(++number_ << shared::number_at, std::memory_order_release);
    std::uint64_t done = 0;  // or begun here
    const closing<Take, Pause> at_end{*this, parts, done, take, pause};
    int waited = 0;
    while (done < parts.count()) {
      if (const auto taken = take_copies(parts, take)) {
        done += taken;
        waited = 0;
      } else if (waited < (is_helped(done) ? patience_.for_copy : patience_.for_help)) {
        ++waited;
        pause();
      } else if (const auto part = claim(parts)) {
        ++done;
        read(parts.at(*part));
      } else {
        pause();
      }
    }
  }

 private:
  // Nobody begins to help any more. Copies that are being made are waited for.
  template <class Take, class Pause>
  struct closing {
    reading_end& end;
    const read_parts& parts;
    std::uint64_t& done;
    Take& take;
    Pause& pause;
    ~closing() {
      // Relaxed: what a helper has read of the other words, it has read before it published its copy, which
      // is taken below.
      const auto word = end.with_.next.exchange(end.number_ << shared::number_at | shared::closed,
                                                std::memory_order_relaxed);
      const auto claimed = std::min(shared::part_in(word), parts.count());
      while (done < claimed) {
        const auto taken = end.take_copies(parts, take);
        if (taken == 0) pause();
        done += taken;
      }
    }
  };

  // Whether somebody makes a copy, where so many parts are done.
  [[nodiscard]] bool is_helped(std::uint64_t done) const noexcept {
    return shared::part_in(with_.next.load(std::memory_order_relaxed)) > done;
  }
  // Relaxed: no other thread begins or closes a read.
  std::optional<std::uint64_t> claim(const read_parts& parts) noexcept {
    if (shared::part_in(with_.next.load(std::memory_order_relaxed)) >= parts.count()) return std::nullopt;
    const auto part = shared::part_in(with_.next.fetch_add(1, std::memory_order_relaxed));
    return part < parts.count() ? std::optional(part) : std::nullopt;
  }
  template <class Take>
  std::uint64_t take_copies(const read_parts& parts, Take& take) {
    std::uint64_t taken = 0;
    for (std::size_t place = 0; place < places; ++place) {
      // Acquire: the copy, help().
      const auto named = with_.copied[place].load(std::memory_order_acquire);
      if (named == 0) continue;
      // Relaxed: take() frees the place by a release, and nobody writes this word before it is free.
      with_.copied[place].store(0, std::memory_order_relaxed);
      take(place, parts.at(named - 1));
      ++taken;
    }
    return taken;
  }

  shared& with_;
  const std::size_t of_part_;
  const read_patience patience_;
  std::uint64_t number_ = 0;
};

// The end of the process whose memory is read. One thread at a time uses it.
template <class System, std::size_t places>
class helping_end {
 public:
  using shared = helped_read<System, places>;
  helping_end(shared& with, std::size_t of_part) noexcept : with_(with), of_part_(of_part) {}

  // Copies a part, if there is one that nobody has claimed. `place()` gives a free place, if there is one,
  // and `free(place)` takes it back; `copy(place, address, size)` copies. Returns whether it has.
  template <class Place, class Free, class Copy>
  bool help(Place place, Free free, Copy copy) {
    // Acquire: the words of this read. Whoever has claimed parts since then carries the release on.
    auto word = with_.next.load(std::memory_order_acquire);
    const auto address = with_.address.load(std::memory_order_relaxed);
    const read_parts parts{with_.bytes.load(std::memory_order_relaxed), of_part_};
    const auto part = shared::part_in(word);
    if (part >= parts.count()) return false;
    const std::optional<std::uint32_t> at = place();
    if (!at) return false;
    // If the read has ended, this fails. Else the words belong to it, and its memory stays until the copy is
    // published. Relaxed: the load above has acquired them.
    if (!with_.next.compare_exchange_strong(word, word + 1, std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
      free(*at);
      return false;
    }
    const auto range = parts.at(part);
    copy(*at, address + range.offset, range.size);
    // Release: the copy, take_copies().
    with_.copied[*at].store(static_cast<std::uint32_t>(part) + 1, std::memory_order_release);
    return true;
  }
  // Whether there seems to be a part to copy.
  [[nodiscard]] bool is_asked() const noexcept {
    const read_parts parts{with_.bytes.load(std::memory_order_relaxed), of_part_};
    return shared::part_in(with_.next.load(std::memory_order_relaxed)) < parts.count();
  }

 private:
  shared& with_;
  const std::size_t of_part_;
};

}  // namespace teff::detail
