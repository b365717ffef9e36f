// Goroutines and channels: each point of a graph is a goroutine. It executes the point's tasks one after the
// other, and sends the place of its output to all goroutines that wait for it. A channel for each pair holds
// one message, so a sender is at most a timestep ahead of its slowest receiver.
package main

import (
	"os"
	"runtime"
	"sync"

	"golang/bench"
)

// A column is a point of a graph: its goroutine, and what belongs to it alone.
type column struct {
	graph, point int
	steps        int
	outputs      [2]bench.Output // of the even and the odd timesteps
	first, last  row
	rows         []row // of a cycle of timesteps from 1 on; none where each is made when it is needed
	ports        *ports
	worker       int // whose place it had last
}

// A row is what repeats of a task from cycle to cycle.
type row struct {
	exists  bool
	task    bench.Task
	own     []int // which inputs are the column's own last output
	receive []received
	send    []chan<- bench.Output
}

// A message of another column, and the index of that input; -1 if it only says that an output has been read.
type received struct {
	from  <-chan bench.Output
	input int
}

// The ports of a graph are the channels between its columns, each made when it is first needed.
type ports struct {
	mutex sync.Mutex
	to    []map[int]chan bench.Output // of each column, by the sender
}

func (all *ports) between(from, to int) chan bench.Output {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	if all.to[to] == nil {
		all.to[to] = map[int]chan bench.Output{}
	}
	port := all.to[to][from]
	if port == nil {
		port = make(chan bench.Output, 1)
		all.to[to][from] = port
	}
	return port
}

// If no timestep repeats, the rows of all timesteps are made before the timed region, up to this number.
const mostRows = 1 << 18

func newColumns(work bench.Workload, graph int, outputs []bench.Output) []*column {
	width, steps, cycle := work.Width(graph), work.Steps(graph), work.Cycle(graph)
	if cycle == 0 && steps*width <= mostRows {
		cycle = steps
	}
	all := make([]*column, width)
	shared := &ports{to: make([]map[int]chan bench.Output, width)}
	for point := range all {
		made := &column{
			graph: graph, point: point, steps: steps, ports: shared, worker: point,
			outputs: [2]bench.Output{outputs[point], outputs[width+point]},
		}
		made.first, made.last = made.newRow(work, 0), made.newRow(work, steps-1)
		for timestep := 1; timestep <= cycle; timestep++ {
			made.rows = append(made.rows, made.newRow(work, timestep))
		}
		all[point] = made
	}
	return all
}

func (c *column) newRow(work bench.Workload, timestep int) row {
	inputs := work.Inputs(c.graph, timestep, c.point)
	made := row{
		exists: work.Exists(c.graph, timestep, c.point),
		task:   work.NewTask(c.graph, c.point, len(inputs)),
	}
	place := map[int]int{}
	for i, point := range inputs {
		place[point] = i
	}
	for _, from := range work.Predecessors(c.graph, timestep, c.point) {
		input, isInput := place[from]
		switch {
		case !isInput:
			input = -1
		case from == c.point:
			made.own = append(made.own, input)
		}
		if from != c.point {
			made.receive = append(made.receive, received{c.ports.between(from, c.point), input})
		}
	}
	for _, to := range work.Successors(c.graph, timestep, c.point) {
		if to != c.point {
			made.send = append(made.send, c.ports.between(c.point, to))
		}
	}
	return made
}

func (c *column) free() {
	c.first.task.Free()
	c.last.task.Free()
	for i := range c.rows {
		c.rows[i].task.Free()
	}
}

// Executes the column's tasks.
func (c *column) run(work bench.Workload, places places) {
	c.execute(work, places, &c.first, 0)
	for timestep := 1; timestep < c.steps-1; timestep++ {
		if c.rows != nil {
			c.execute(work, places, &c.rows[(timestep-1)%len(c.rows)], timestep)
		} else {
			once := c.newRow(work, timestep)
			c.execute(work, places, &once, timestep)
			once.task.Free()
		}
	}
	if c.steps > 1 {
		c.execute(work, places, &c.last, c.steps-1)
	}
}

// How often receive polls: some microseconds, less than a sleep and a wake take.
const polls = 20

// Polls a while before it waits: a thread of Go's that has no goroutine sleeps almost at once, and to wake it takes longer
// than many tasks do. Gosched lets those run first that are ready. At two columns and two processors a task of 9 us then
// takes 15 us, which took 21.
func receive(from <-chan bench.Output) bench.Output {
	for i := 0; i < polls; i++ {
		select {
		case output := <-from:
			return output
		default:
			runtime.Gosched()
		}
	}
	return <-from
}

func (c *column) execute(work bench.Workload, places places, row *row, timestep int) {
	if !row.exists {
		return
	}
	inputs := row.task.Inputs()
	for _, own := range row.own {
		inputs[own] = c.outputs[(timestep+1)%2]
	}
	for _, each := range row.receive {
		if output := receive(each.from); each.input >= 0 {
			inputs[each.input] = output
		}
	}
	output := c.outputs[timestep%2]
	c.worker = places.take(c.worker)
	work.Execute(&row.task, timestep, c.worker, output)
	places.leave(c.worker)
	for _, each := range row.send {
		each <- output
	}
}

// Places of workers. If a goroutine is in C for long, Go lends its processor to another one. So GOMAXPROCS
// does not bound the number of kernels that run at a time; these places do.
type places []struct {
	sync.Mutex
	_ [120]byte // two cache lines: the next place is another core's
}

// Takes a free place, if it can the one that is wanted.
func (all places) take(wanted int) int {
	for i := range all {
		if place := (wanted + i) % len(all); all[place].TryLock() {
			return place
		}
	}
	all[wanted%len(all)].Lock()
	return wanted % len(all)
}

func (all places) leave(place int) { all[place].Unlock() }

func run(work bench.Workload, workers int) {
	var columns []*column
	for graph := 0; graph < work.Graphs(); graph++ {
		outputs := work.NewOutputs(graph, 2*work.Width(graph))
		defer bench.FreeOutputs(outputs)
		columns = append(columns, newColumns(work, graph, outputs)...)
	}
	free := make(places, workers)
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for _, each := range columns {
		ready.Add(1)
		done.Add(1)
		go func(c *column) {
			defer done.Done()
			ready.Done()
			<-begin
			c.run(work, free)
		}(each)
	}
	ready.Wait()
	work.Start()
	close(begin)
	done.Wait()
	work.Stop()
	for _, each := range columns {
		each.free()
	}
}

func main() {
	os.Exit(bench.Drive("channels", run))
}
