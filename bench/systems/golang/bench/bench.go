// Package bench is the task bench for adapters in Go: libteff_bench.so, as teff_bench.h describes it.
package bench

/*
#include <stdlib.h>
#include "teff_bench.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Workload is one configuration made ready. Any number of goroutines may use it.
type Workload struct {
	handle *C.teff_workload
}

// Output is where a task writes what others read. It is C's memory: Go's must not lie in a list of inputs that C reads.
type Output = unsafe.Pointer

// Task is what Execute needs of a task, however many timesteps repeat it.
type Task struct {
	graph  C.int32_t
	point  C.int64_t
	bytes  C.size_t
	count  C.int64_t
	inputs *unsafe.Pointer
	sizes  *C.size_t
}

// Drive is the main program of an adapter: flags, batch mode, records. It returns the exit code. With as many workers as
// the flags name, run executes every task of every graph between work.Start and work.Stop.
func Drive(variant string, run func(work Workload, workers int)) int {
	flags := make([]*C.char, len(os.Args)) // one more than there are: an array of none has no address
	for i, word := range os.Args[1:] {
		flags[i] = C.CString(word)
	}
	list := (**C.char)(C.malloc(C.size_t(len(flags)) * C.size_t(unsafe.Sizeof(flags[0]))))
	copy(unsafe.Slice(list, len(flags)), flags)
	runtime.LockOSThread() // the reason of a failure is the thread's
	session := C.teff_session_open(C.int32_t(len(flags)-1), list)
	if session == nil {
		fmt.Fprintf(os.Stderr, "error: %s\n", C.GoString(C.teff_error()))
		return 2
	}
	runtime.UnlockOSThread()
	runtime.GOMAXPROCS(int(C.teff_session_workers(session)))
	workers := C.int32_t(runtime.GOMAXPROCS(0))
	identity := C.teff_identity{
		system: C.CString("golang"), variant: C.CString(variant), version: C.CString(runtime.Version()),
		workers: workers, ranks: 1,
	}
	C.teff_session_identify(session, &identity)
	for {
		work := C.teff_session_next(session, workers)
		if work == nil {
			return int(C.teff_session_close(session))
		}
		run(Workload{work}, int(workers))
		C.teff_session_answer(session, work, nil, 0)
	}
}

// Start begins the timed region: all is ready, and no task has started.
func (work Workload) Start() { C.teff_start(work.handle) }

// Stop ends it: all tasks are done.
func (work Workload) Stop() { C.teff_stop(work.handle) }

func (work Workload) Graphs() int         { return int(C.teff_graphs(work.handle)) }
func (work Workload) Steps(graph int) int { return int(C.teff_steps(work.handle, C.int32_t(graph))) }
func (work Workload) Width(graph int) int { return int(C.teff_width(work.handle, C.int32_t(graph))) }
func (work Workload) Cycle(graph int) int { return int(C.teff_cycle(work.handle, C.int32_t(graph))) }
func (work Workload) Exists(graph, timestep, point int) bool {
	var first C.int64_t
	count := C.teff_points(work.handle, C.int32_t(graph), C.int64_t(timestep), &first)
	return point >= int(first) && point < int(first+count)
}

// Inputs are the points at timestep - 1 whose outputs the task reads, in the order in which Execute wants them.
func (work Workload) Inputs(graph, timestep, point int) []int {
	return points(func(into *C.int64_t, room C.int64_t) C.int64_t {
		return C.teff_inputs(work.handle, C.int32_t(graph), C.int64_t(timestep), C.int64_t(point), into, room)
	})
}

// Predecessors are the points at timestep - 1 that the task waits for where the outputs of two timesteps are kept.
func (work Workload) Predecessors(graph, timestep, point int) []int {
	return points(func(into *C.int64_t, room C.int64_t) C.int64_t {
		return C.teff_predecessors(work.handle, C.int32_t(graph), C.int64_t(timestep), C.int64_t(point), into, room)
	})
}

// Successors are the points at timestep + 1 that wait for the task, likewise.
func (work Workload) Successors(graph, timestep, point int) []int {
	return points(func(into *C.int64_t, room C.int64_t) C.int64_t {
		return C.teff_successors(work.handle, C.int32_t(graph), C.int64_t(timestep), C.int64_t(point), into, room)
	})
}

// The points that a function of C's writes, which says how many there are where there is no room.
func points(write func(into *C.int64_t, room C.int64_t) C.int64_t) []int {
	found := make([]C.int64_t, write(nil, 0)+1)
	count := write(&found[0], C.int64_t(len(found)))
	all := make([]int, count)
	for i := range all {
		all[i] = int(found[i])
	}
	return all
}

// NewOutputs makes room for count outputs of a graph, side by side, until FreeOutputs.
func (work Workload) NewOutputs(graph, count int) []Output {
	bytes := int(C.teff_output_bytes(work.handle, C.int32_t(graph)))
	memory := C.calloc(C.size_t(count), C.size_t(bytes))
	all := make([]Output, count)
	for i := range all {
		all[i] = unsafe.Add(memory, i*bytes)
	}
	return all
}

// FreeOutputs frees what NewOutputs made.
func FreeOutputs(all []Output) { C.free(all[0]) }

// NewTask makes ready a point of a graph that reads count outputs, until Free.
func (work Workload) NewTask(graph, point, count int) Task {
	bytes := C.teff_output_bytes(work.handle, C.int32_t(graph))
	task := Task{
		graph: C.int32_t(graph), point: C.int64_t(point), bytes: C.size_t(bytes), count: C.int64_t(count),
		inputs: (*unsafe.Pointer)(C.calloc(C.size_t(count+1), C.size_t(unsafe.Sizeof(uintptr(0))))),
		sizes:  (*C.size_t)(C.calloc(C.size_t(count+1), C.size_t(unsafe.Sizeof(C.size_t(0))))),
	}
	for i := range unsafe.Slice(task.sizes, count) {
		unsafe.Slice(task.sizes, count)[i] = task.bytes
	}
	return task
}

// Inputs is the place to name the task's inputs before it is executed.
func (task *Task) Inputs() []Output { return unsafe.Slice(task.inputs, int(task.count)) }

// Free frees what NewTask made.
func (task *Task) Free() {
	C.free(unsafe.Pointer(task.inputs))
	C.free(unsafe.Pointer(task.sizes))
}

// Execute executes a task as a worker. No other goroutine may act as that worker meanwhile.
func (work Workload) Execute(task *Task, timestep, worker int, output Output) {
	C.teff_execute(work.handle, task.graph, C.int64_t(timestep), task.point, C.int32_t(worker), output, task.bytes,
		task.inputs, task.sizes, task.count)
}
