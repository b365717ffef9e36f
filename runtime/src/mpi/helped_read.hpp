// A process reads another one's memory part by part, and the other one helps: it copies parts to memory that
// both see, which is faster (src/message/large.md).
//
// `System` gives atomic<T>. tests/helped_read_model_test.cpp explores this code on its interleavings.
#pragma once

#include <teff/detail/exceptions.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace teff::detail {

// The part that both processes share, with `places` places for copies.
template <class System, std::size_t places>
struct helped_read {
  template <class T>
  using atomic = typename System::template atomic<T>;

  // The number of the read; in the lower half, the first part that is not claimed.
  static constexpr int number_at = 32;
  static constexpr std::uint64_t closed = (std::uint64_t{1} << number_at) - 1;  // as a part: none is left
  [[nodiscard]] static std::uint64_t part_in(std::uint64_t word) noexcept { return word & closed; }

  atomic<std::uint64_t> next{closed};
  // Address and size of the memory that is read. Relaxed: `next` orders them.
  atomic<std::uint64_t> address{0};
  atomic<std::uint64_t> bytes{0};
  // By place: the number of the part whose copy lies there, plus one; 0: none.
  std::array<atomic<std::uint32_t>, places> copied{};
};

// Divides a read into parts of one size; the last one may be shorter.
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

// How often the reader pauses before it reads a part itself: `for_help` times at the beginning and after each
// copy. While the helper makes a copy it pauses `for_copy` times, since the helper may have lost its core.
struct read_patience {
  int for_help;
  int for_copy;
};

// The end of the process that reads, the reader. One thread at a time uses it.
template <class System, std::size_t places>
class reading_end {
 public:
  using shared = helped_read<System, places>;
  reading_end(shared& with, std::size_t of_part, read_patience patience) noexcept
      : with_(with), of_part_(of_part), patience_(patience) {}

  // `read(range)` copies a part. `take(place, range)` copies the part that the helper has copied to that
  // place, and frees the place. `pause()` returns after a short time. run() throws what read() throws. When
  // it returns or throws, the helper uses that memory no more.
  template <class Read, class Take, class Pause>
  void run(std::uint64_t address, std::uint64_t bytes, Read read, Take take, Pause pause) {
    const read_parts parts{bytes, of_part_};
    with_.address.store(address, std::memory_order_relaxed);
    with_.bytes.store(bytes, std::memory_order_relaxed);
    // Release: both words; pairs with the acquire in help().
    with_.next.store(++number_ << shared::number_at, std::memory_order_release);
    std::uint64_t done = 0;  // parts that were copied, or begun here
    const auto work = [&] {
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
    };
    // No helper begins a copy after this. Waits for the copies that were begun.
    const auto close = [&] {
      // Relaxed: a helper has read the other words before it published its copy, which take_copies()
      // acquires.
      const auto word =
          with_.next.exchange(number_ << shared::number_at | shared::closed, std::memory_order_relaxed);
      const auto claimed = std::min(shared::part_in(word), parts.count());
      while (done < claimed) {
        const auto taken = take_copies(parts, take);
        if (taken == 0) pause();
        done += taken;
      }
    };
    undo_if_thrown(work, close);
    close();
  }

 private:
  // Whether the helper is making a copy, if `done` parts are done.
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
      // Acquire: the copied bytes; pairs with help().
      const auto named = with_.copied[place].load(std::memory_order_acquire);
      if (named == 0) continue;
      // Relaxed: take() frees the place by a release, and no thread writes this word before the place is
      // free.
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

// The end of the process whose memory is read, the helper. One thread at a time uses it.
template <class System, std::size_t places>
class helping_end {
 public:
  using shared = helped_read<System, places>;
  helping_end(shared& with, std::size_t of_part) noexcept : with_(with), of_part_(of_part) {}

  // Copies a part that is not claimed, if there is one; returns whether it has. `place()` takes a free place,
  // if there is one, `free(place)` frees it, `copy(place, address, size)` copies.
  template <class Place, class Free, class Copy>
  bool help(Place place, Free free, Copy copy) {
    // Acquire: the words of this read; pairs with the release in run(). Later changes of `next` continue its
    // release sequence.
    auto word = with_.next.load(std::memory_order_acquire);
    const auto address = with_.address.load(std::memory_order_relaxed);
    const read_parts parts{with_.bytes.load(std::memory_order_relaxed), of_part_};
    const auto part = shared::part_in(word);
    if (part >= parts.count()) return false;
    const std::optional<std::uint32_t> at = place();
    if (!at) return false;
    // Fails if the read has ended. Otherwise the words belong to this read, and its memory stays until the
    // copy is published. Relaxed: the load above has acquired the words.
    if (!with_.next.compare_exchange_strong(word, word + 1, std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
      free(*at);
      return false;
    }
    const auto range = parts.at(part);
    copy(*at, address + range.offset, range.size);
    // Release: the copied bytes; pairs with take_copies().
    with_.copied[*at].store(static_cast<std::uint32_t>(part) + 1, std::memory_order_release);
    return true;
  }
  // Whether there seems to be a part to copy.
  [[nodiscard]] bool is_asked() const noexcept {
    // At first without the division of count(): workers that wait ask again and again.
    const auto part = shared::part_in(with_.next.load(std::memory_order_relaxed));
    return part != shared::closed &&
           part < read_parts{with_.bytes.load(std::memory_order_relaxed), of_part_}.count();
  }

 private:
  shared& with_;
  const std::size_t of_part_;
};

}  // namespace teff::detail
