#pragma once

#include <mpi.h>

#include "teff/bench/rank_columns.hpp"

/// A receive into, or a send from, the place where a graph's tasks read and write: nothing is copied here.
inline MPI_Request receive(teff::bench::rank_columns& columns, std::int64_t timestep,
                           const teff::bench::crossing& message, MPI_Comm graph) {
  const auto into = columns.output(timestep, message.point);
  MPI_Request request;
  MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, message.peer, message.tag, graph, &request);
  return request;
}

inline MPI_Request send(teff::bench::rank_columns& columns, std::int64_t timestep,
                        const teff::bench::crossing& message, MPI_Comm graph) {
  const auto from = columns.output(timestep, message.point);
  MPI_Request request;
  MPI_Isend(from.data(), static_cast<int>(from.size()), MPI_BYTE, message.peer, message.tag, graph, &request);
  return request;
}
