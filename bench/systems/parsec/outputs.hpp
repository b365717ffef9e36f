#pragma once

#include <parsec/runtime.h>

#include <parsec/data_dist/matrix/matrix.h>
#include <parsec/data_distribution.h>
#include <parsec/data_internal.h>
#include <parsec/execution_stream.h>
#include <parsec/interfaces/dtd/insert_function.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/graphs/rank_columns.hpp"
#include "teff/graphs/task_graph.hpp"

/// The outputs of a graph's last timesteps as a data collection of PaRSEC: a rank has the outputs of its
/// columns. The output of timestep t is overwritten at t + `kept`.
class outputs {
 public:
  static constexpr std::int64_t kept = 2;

  outputs(parsec_context_t* context, const teff::graphs::task_graph& graph, teff::graphs::partition blocks,
          int ranks, int rank)
      : context_(context),
        width_(graph.width),
        bytes_(static_cast<std::size_t>(graph.output_bytes)),
        blocks_(std::move(blocks)),
        memory_(static_cast<std::size_t>(kept * width_) * bytes_),
        data_(static_cast<std::size_t>(kept * width_), nullptr) {
    parsec_data_collection_init(&all_.base, ranks, rank);
    all_.owner = this;
    all_.base.rank_of_key = rank_of_key;
    all_.base.data_of_key = data_of_key;
    all_.base.vpid_of_key = [](parsec_data_collection_t*, parsec_data_key_t) { return 0; };
    parsec_dtd_data_collection_init(&all_.base);
    const auto bytes = static_cast<unsigned>(bytes_);
    parsec_dtd_attach_arena_datatype(
        context_, parsec_matrix_adt_new_rect(parsec_datatype_int8_t, bytes, 1, bytes), &region_);
  }
  outputs(const outputs&) = delete;
  outputs& operator=(const outputs&) = delete;
  ~outputs() {
    parsec_dtd_free_arena_datatype(context_, region_);
    parsec_dtd_data_collection_fini(&all_.base);
    for (parsec_data_t* const each : data_)
      if (each != nullptr) parsec_data_destroy(each);
    parsec_data_collection_destroy(&all_.base);
  }

  [[nodiscard]] parsec_data_collection_t* collection() { return &all_.base; }
  /// The flags for each use of an output.
  [[nodiscard]] int region() const { return region_; }
  [[nodiscard]] parsec_dtd_tile_t* tile(std::int64_t timestep, std::int64_t point) {
    return parsec_dtd_tile_of(&all_.base,
                              static_cast<parsec_data_key_t>((timestep & (kept - 1)) * width_ + point));
  }

 private:
  struct collection_of {
    parsec_data_collection_t base;  ///< first: PaRSEC gives back a pointer to it
    outputs* owner;
  };
  static outputs& of(parsec_data_collection_t* collection) {
    return *reinterpret_cast<collection_of*>(collection)->owner;
  }
  static std::uint32_t rank_of_key(parsec_data_collection_t* collection, parsec_data_key_t key) {
    const outputs& all = of(collection);
    return static_cast<std::uint32_t>(all.blocks_.owner(static_cast<std::int64_t>(key) % all.width_));
  }
  static parsec_data_t* data_of_key(parsec_data_collection_t* collection, parsec_data_key_t key) {
    outputs& all = of(collection);
    const auto at = static_cast<std::size_t>(key);
    return parsec_data_create(&all.data_[at], collection, key, all.memory_.data() + at * all.bytes_,
                              all.bytes_, PARSEC_DATA_FLAG_PARSEC_MANAGED);
  }

  parsec_context_t* context_;
  std::int64_t width_;
  std::size_t bytes_;
  teff::graphs::partition blocks_;
  std::vector<std::byte> memory_;
  std::vector<parsec_data_t*> data_;
  collection_of all_{};
  int region_ = 0;
};
