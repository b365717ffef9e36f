//! The spawn patterns on Tokio, for the class in tasks.hpp: tokio::spawn for each task, and its JoinHandle to wait for
//! it. Null tasks, nodes and digests are C++'s.

use std::future::Future;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// As teff::spawn::node: a digest and a depth.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Node {
    state: [u32; 5],
    depth: i32,
}

/// As teff::spawn::tree_counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Counts {
    nodes: i64,
    leaves: i64,
    depth: i32,
}

/// A tree that only C++ looks into.
#[derive(Clone, Copy)]
struct Tree(*const c_void);
// It is constant while it is searched.
unsafe impl Send for Tree {}
unsafe impl Sync for Tree {}

impl Tree {
    fn children(self, of: &Node) -> i32 {
        unsafe { tokio_children(self.0, of) }
    }
}

extern "C" {
    fn tokio_null_task(index: i64);
    fn tokio_children(tree: *const c_void, of: *const Node) -> i32;
    fn tokio_child(of: *const Node, index: i32, child: *mut Node);
    fn tokio_pin(worker: i32);
}

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Makes the workers, each bound to its core. False where they can't be had.
#[no_mangle]
pub extern "C" fn tokio_start(workers: i32) -> bool {
    let started = AtomicI32::new(0);
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers as usize)
        .on_thread_start(move || unsafe { tokio_pin(started.fetch_add(1, Ordering::Relaxed)) })
        .build();
    runtime.is_ok_and(|runtime| RUNTIME.set(runtime).is_ok())
}

/// Returns when a task has run on each worker at the same time.
#[no_mangle]
pub extern "C" fn tokio_wake_all() {
    static AWAKE: AtomicI32 = AtomicI32::new(0);
    in_task(async {
        let workers = tokio::runtime::Handle::current().metrics().num_workers() as i32;
        AWAKE.store(0, Ordering::Relaxed);
        let spin = move || {
            AWAKE.fetch_add(1, Ordering::Relaxed);
            while AWAKE.load(Ordering::Relaxed) < workers {
                std::thread::yield_now();
            }
        };
        let all: Vec<_> = (0..workers)
            .map(|_| tokio::spawn(async move { spin() }))
            .collect();
        for each in all {
            joined(each).await;
        }
    });
}

/// Runs a future as a task, so that it spawns from a worker.
fn in_task<T: Send + 'static>(body: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = RUNTIME.get().expect("it was started");
    runtime.block_on(async { joined(tokio::spawn(body)).await })
}

async fn joined<T>(task: JoinHandle<T>) -> T {
    task.await.expect("a panic ends the program")
}

#[no_mangle]
pub extern "C" fn tokio_serial_spawn(tasks: i64) {
    in_task(spawn_each(0, tasks));
}

/// Tokio has no parallel loop: a task a worker spawns the tasks of its part.
#[no_mangle]
pub extern "C" fn tokio_parallel_spawn(tasks: i64) {
    in_task(async move {
        let parts = tokio::runtime::Handle::current().metrics().num_workers() as i64;
        let spawn =
            |part| tokio::spawn(spawn_each(tasks * part / parts, tasks * (part + 1) / parts));
        let all: Vec<_> = (0..parts).map(spawn).collect();
        for each in all {
            joined(each).await;
        }
    });
}

async fn spawn_each(first: i64, end: i64) {
    let spawn = |index| tokio::spawn(async move { unsafe { tokio_null_task(index) } });
    let all: Vec<_> = (first..end).map(spawn).collect();
    for each in all {
        joined(each).await;
    }
}

#[no_mangle]
pub extern "C" fn tokio_fibonacci_both(n: i32) -> i64 {
    in_task(fibonacci_both(n))
}

async fn fibonacci_both(n: i32) -> i64 {
    if n < 2 {
        return n as i64;
    }
    let (a, b) = (spawn_both(n - 1), spawn_both(n - 2));
    joined(a).await + joined(b).await
}

/// By its name a future's type can't be part of itself.
fn spawn_both(n: i32) -> JoinHandle<i64> {
    tokio::spawn(fibonacci_both(n))
}

#[no_mangle]
pub extern "C" fn tokio_fibonacci_one(n: i32) -> i64 {
    in_task(fibonacci_one(n))
}

async fn fibonacci_one(n: i32) -> i64 {
    if n < 2 {
        return n as i64;
    }
    let a = spawn_one(n - 1);
    let b = Box::pin(fibonacci_one(n - 2)).await;
    joined(a).await + b
}

fn spawn_one(n: i32) -> JoinHandle<i64> {
    tokio::spawn(fibonacci_one(n))
}

#[no_mangle]
pub extern "C" fn tokio_search_tree(tree: *const c_void, from: *const Node, found: *mut Counts) {
    let (tree, from) = (Tree(tree), unsafe { *from });
    unsafe { *found = in_task(search(tree, from)) };
}

/// Counts a node and what is below it. Each child is a task but the last.
async fn search(tree: Tree, from: Node) -> Counts {
    let children = tree.children(&from);
    if children == 0 {
        return Counts {
            nodes: 1,
            leaves: 1,
            depth: from.depth,
        };
    }
    let tasks: Vec<_> = (0..children - 1)
        .map(|index| spawn_search(tree, child(&from, index)))
        .collect();
    let mut seen = Box::pin(search(tree, child(&from, children - 1))).await;
    seen.nodes += 1;
    for each in tasks {
        let below = joined(each).await;
        seen.nodes += below.nodes;
        seen.leaves += below.leaves;
        seen.depth = seen.depth.max(below.depth);
    }
    seen
}

fn spawn_search(tree: Tree, from: Node) -> JoinHandle<Counts> {
    tokio::spawn(search(tree, from))
}

fn child(of: &Node, index: i32) -> Node {
    let mut child = Node::default();
    unsafe { tokio_child(of, index, &mut child) };
    child
}
