// Package main is the spawn patterns on goroutines, for the class in tasks.hpp: a WaitGroup for each set of children.
// Null tasks, nodes and digests are C's, and a call of C costs Go some 60 ns: that part of a task's time is not Go's.
package main

/*
#include "teff_spawn.h"

typedef void function_of_c(void *context);
static inline void call(function_of_c *function, void *context) { function(context); }
*/
import "C"

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

//export teff_spawn_start
func teff_spawn_start(workers C.int32_t) C.int32_t {
	runtime.GOMAXPROCS(int(workers))
	return C.int32_t(runtime.GOMAXPROCS(0))
}

//export golang_version
func golang_version() *C.char { return C.CString(runtime.Version()) }

//export teff_spawn_run
func teff_spawn_run(body *C.function_of_c, context unsafe.Pointer) {
	wakeAll()
	C.call(body, context)
}

// Returns when a goroutine has run on each processor at the same time.
func wakeAll() {
	workers := int32(runtime.GOMAXPROCS(0))
	var awake atomic.Int32
	var all sync.WaitGroup
	for i := int32(0); i < workers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for awake.Add(1); awake.Load() < workers; {
			}
		}()
	}
	all.Wait()
}

// Calls body in a goroutine: the one that C calls is bound to C's thread, and a switch from it is one of threads.
func inGoroutine(body func()) {
	done := make(chan struct{})
	go func() {
		body()
		close(done)
	}()
	<-done
}

//export teff_spawn_serial
func teff_spawn_serial(tasks C.int64_t) {
	inGoroutine(func() { spawnEach(0, tasks) })
}

// Go has no parallel loop: a goroutine a processor spawns the tasks of its part.
//
//export teff_spawn_parallel
func teff_spawn_parallel(tasks C.int64_t) {
	inGoroutine(func() {
		parts := C.int64_t(runtime.GOMAXPROCS(0))
		var all sync.WaitGroup
		for part := C.int64_t(0); part < parts; part++ {
			all.Add(1)
			go func(first, end C.int64_t) {
				defer all.Done()
				spawnEach(first, end)
			}(tasks*part/parts, tasks*(part+1)/parts)
		}
		all.Wait()
	})
}

func spawnEach(first, end C.int64_t) {
	var all sync.WaitGroup
	all.Add(int(end - first))
	for index := first; index < end; index++ {
		go func(index C.int64_t) {
			C.teff_spawn_null_task(index)
			all.Done()
		}(index)
	}
	all.Wait()
}

//export teff_spawn_fibonacci_both
func teff_spawn_fibonacci_both(n C.int32_t) (result C.int64_t) {
	inGoroutine(func() { result = C.int64_t(fibonacciBoth(int(n))) })
	return
}

func fibonacciBoth(n int) int {
	if n < 2 {
		return n
	}
	var a, b int
	var both sync.WaitGroup
	both.Add(2)
	go func() { a = fibonacciBoth(n - 1); both.Done() }()
	go func() { b = fibonacciBoth(n - 2); both.Done() }()
	both.Wait()
	return a + b
}

//export teff_spawn_fibonacci_one
func teff_spawn_fibonacci_one(n C.int32_t) (result C.int64_t) {
	inGoroutine(func() { result = C.int64_t(fibonacciOne(int(n))) })
	return
}

func fibonacciOne(n int) int {
	if n < 2 {
		return n
	}
	var a int
	var one sync.WaitGroup
	one.Add(1)
	go func() { a = fibonacciOne(n - 1); one.Done() }()
	b := fibonacciOne(n - 2)
	one.Wait()
	return a + b
}

//export teff_spawn_search_tree
func teff_spawn_search_tree(tree *C.teff_spawn_tree, from *C.teff_spawn_node, found *C.teff_spawn_counts) {
	inGoroutine(func() {
		root := *from
		*found = search(tree, &root, C.teff_spawn_children(tree, &root))
	})
}

// Counts a node and its descendants. Each child is a task but the last.
func search(tree *C.teff_spawn_tree, from *C.teff_spawn_node, children C.int32_t) C.teff_spawn_counts {
	if children == 0 {
		return C.teff_spawn_counts{nodes: 1, leaves: 1, depth: from.depth}
	}
	found := make([]C.teff_spawn_counts, children)
	child := func(index C.int32_t) {
		var node C.teff_spawn_node
		below := C.teff_spawn_child(tree, from, index, &node)
		found[index] = search(tree, &node, below)
	}
	var all sync.WaitGroup
	all.Add(int(children) - 1)
	for index := C.int32_t(0); index < children-1; index++ {
		go func(index C.int32_t) {
			child(index)
			all.Done()
		}(index)
	}
	child(children - 1)
	all.Wait()
	seen := C.teff_spawn_counts{nodes: 1, depth: from.depth}
	for _, each := range found {
		seen.nodes += each.nodes
		seen.leaves += each.leaves
		if each.depth > seen.depth {
			seen.depth = each.depth
		}
	}
	return seen
}

func main() {}
