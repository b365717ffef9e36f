! The same imbalance by both bindings of Fortran: compiled with -DBINDING=mpi or mpi_f08.
program messages
  use BINDING
  implicit none
  integer :: fault, rank, step, other
  double precision :: begin, work, since, value(1)
#ifdef F08
  type(mpi_status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
#endif
  call MPI_Init(fault)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, fault)
  begin = MPI_Wtime()
  work = 0
  value = 0
  other = 1 - rank
  do step = 1, 100
    since = MPI_Wtime()
    do while (MPI_Wtime() < since + merge(3d-3, 1d-3, rank == 0))
    end do
    work = work + (MPI_Wtime() - since) * 1d9
    if (rank == 0) then
      call MPI_Send(value, 1, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, fault)
    else
      call MPI_Recv(value, 1, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, status, fault)
    end if
  end do
  begin = (MPI_Wtime() - begin) * 1d9
  call MPI_Finalize(fault)
  print '(a, i0, a, f0.0, a, f0.0, a)', '{"rank": ', rank, ', "work": ', work, '0, "wall": ', begin, '0}'
end program
