-- Index launches in traces. A graph is a region of bytes, whose fields are the outputs of the last two
-- timesteps. One partition has the bytes of each point, which its task writes. Another, by sets of inputs and
-- by point, has the bytes that the task reads. Regent sees that the launches of a timestep are one, Legion
-- which tasks wait for which.
import "regent"

local c = regentlib.c
local bench = require("bench")

fspace outputs {
  even : int8,
  odd : int8,
}

local function point_task(written, read)
  local __demand(__leaf)
  task point(own : region(ispace(int1d), outputs), inputs : region(ispace(int1d), outputs),
             graph : int32, timestep : int64)
  where reads writes(own.[written]), reads(inputs.[read]) do
    var index = int1d(c.legion_task_get_index_point(__task()))
    bench.execute(graph, timestep, int64(index), __physical(own.{[written]})[0], __fields(own.{[written]})[0],
                  __physical(inputs.{[read]})[0], __fields(inputs.{[read]})[0])
  end
  return point
end

local even = point_task("even", "odd")
local odd = point_task("odd", "even")

-- Launches the tasks of a timestep.
local function launch(all, own, inputs, rows, graph, timestep)
  return rquote
    var row = rows:at(timestep)
    var first = rows:first(row)
    var after = first + rows:points(row)
    if timestep % 2 == 0 then
      __demand(__index_launch)
      for point = first, after do
        even(own[point], inputs[int2d {row, point}], graph, timestep)
      end
    else
      __demand(__index_launch)
      for point = first, after do
        odd(own[point], inputs[int2d {row, point}], graph, timestep)
      end
    end
  end
end

-- Runs a graph. Its region is there when it arrives at `ready`, and the tasks are launched when others arrive at `go`.
__demand(__inner)
task run_graph(graph : int32, ready : c.legion_phase_barrier_t,
               go : c.legion_phase_barrier_t)
  var bytes = bench.output_bytes(graph)
  var width = bench.width(graph)
  var all = region(ispace(int1d, width * bytes), outputs)
  var own = partition(equal, all, ispace(int1d, width))
  var rows = bench.rows_of(graph)
  var coloring = c.legion_multi_domain_point_coloring_create()
  rows:colour(coloring, bytes)
  var inputs = partition(aliased, all, coloring, ispace(int2d, {rows.count, width}))
  c.legion_multi_domain_point_coloring_destroy(coloring)
  fill(all.{even, odd}, 0)
  __fence(__execution, __block)
  c.legion_phase_barrier_arrive(__runtime(), __context(), ready, 1)
  c.legion_phase_barrier_wait(__runtime(), __context(),
                              c.legion_phase_barrier_advance(__runtime(), __context(), go))

  var steps = bench.steps(graph)
  var cycle = bench.cycle_of_launches(graph)
  var timestep : int64 = 0
  if cycle > 0 then -- the first timestep reads nothing
    [launch(all, own, inputs, rows, graph, timestep)]
    timestep += 1
    var traces = (steps - 1) / cycle
    __demand(__trace)
    for trace = 0, traces do
      for each = 0, cycle do
        [launch(all, own, inputs, rows, graph, rexpr timestep + each end)]
      end
      timestep += cycle
    end
  end
  for rest = timestep, steps do
    [launch(all, own, inputs, rows, graph, rest)]
  end
  __fence(__execution, __block)
  rows:free()
end

task wake(workers : int32)
  bench.become_worker(int32(int1d(c.legion_task_get_index_point(__task()))), workers)
end

task run(workers : int32)
  __demand(__index_launch)
  for worker = 0, workers do
    wake(workers)
  end
  __fence(__execution, __block)
  var graphs = bench.graphs()
  var ready = c.legion_phase_barrier_create(__runtime(), __context(), graphs)
  var go = c.legion_phase_barrier_create(__runtime(), __context(), 1)
  for graph = 0, graphs do
    run_graph(graph, ready, go)
  end
  c.legion_phase_barrier_wait(__runtime(), __context(),
                              c.legion_phase_barrier_advance(__runtime(), __context(), ready))
  bench.start()
  c.legion_phase_barrier_arrive(__runtime(), __context(), go, 1)
  __fence(__execution, __block)
  bench.stop()
  c.legion_phase_barrier_destroy(__runtime(), __context(), ready)
  c.legion_phase_barrier_destroy(__runtime(), __context(), go)
end

task main()
  var workers = bench.workers()
  if bench.open_session(workers) then
    while bench.next(workers) do
      run(workers)
      __fence(__execution, __block)
      bench.answer()
    end
  end
  c.legion_runtime_set_return_code(bench.close_session())
end

-- Its libraries are found where regent.py and CMake say that they are.
local libraries = os.getenv("TEFF_LIBRARIES")
local folders = libraries .. ":" .. os.getenv("LD_LIBRARY_PATH")
regentlib.saveobj(main, os.getenv("TEFF_PROGRAM"), "executable", nil,
                  terralib.newlist {"-L" .. libraries, "-lteff_bench", "-Wl,-rpath," .. folders})
