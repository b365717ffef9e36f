//! The spawn patterns on Tokio: tokio::spawn for each task, and its JoinHandle to wait for it.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use spawn_patterns::{null_task, pin, Body, Counts, Node, Patterns, Tree};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

struct Tokio;
spawn_patterns::offer!(Tokio);

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

impl Patterns for Tokio {
    fn start(workers: usize) -> usize {
        let started = AtomicUsize::new(0);
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .on_thread_start(move || pin(started.fetch_add(1, Ordering::Relaxed)))
            .build();
        runtime.map_or(0, |runtime| {
            let runtime = RUNTIME.get_or_init(|| runtime);
            runtime.handle().metrics().num_workers()
        })
    }

    fn run(body: Body) {
        wake_all();
        body.call();
    }

    fn serial_spawn(tasks: i64) {
        in_task(spawn_each(0, tasks));
    }

    /// Tokio has no parallel loop: a task a worker spawns the tasks of its part.
    fn parallel_spawn(tasks: i64) {
        in_task(async move {
            let parts = workers() as i64;
            let spawn =
                |part| tokio::spawn(spawn_each(tasks * part / parts, tasks * (part + 1) / parts));
            let all: Vec<_> = (0..parts).map(spawn).collect();
            for each in all {
                joined(each).await;
            }
        });
    }

    fn fibonacci_both(n: i32) -> i64 {
        in_task(fibonacci_both(n))
    }

    fn fibonacci_one(n: i32) -> i64 {
        in_task(fibonacci_one(n))
    }

    fn search_tree(tree: Tree, root: Node) -> Counts {
        in_task(search(tree, root))
    }
}

/// Returns when a task has run on each worker at the same time.
fn wake_all() {
    static AWAKE: AtomicUsize = AtomicUsize::new(0);
    in_task(async {
        let workers = workers();
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

/// Of the runtime that this is called in.
fn workers() -> usize {
    tokio::runtime::Handle::current().metrics().num_workers()
}

/// Runs a future as a task, so that it spawns from a worker.
fn in_task<T: Send + 'static>(body: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = RUNTIME.get().expect("it was started");
    runtime.block_on(async { joined(tokio::spawn(body)).await })
}

async fn joined<T>(task: JoinHandle<T>) -> T {
    task.await.expect("a panic ends the program")
}

async fn spawn_each(first: i64, end: i64) {
    let spawn = |index| tokio::spawn(async move { null_task(index) });
    let all: Vec<_> = (first..end).map(spawn).collect();
    for each in all {
        joined(each).await;
    }
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

/// Counts a node and its descendants. Each child is a task but the last.
async fn search(tree: Tree, from: Node) -> Counts {
    let mut seen = Counts::of(&from);
    if from.children == 0 {
        return seen;
    }
    let tasks: Vec<_> = (0..from.children - 1)
        .map(|index| spawn_search(tree, tree.child(&from, index)))
        .collect();
    seen += Box::pin(search(tree, tree.child(&from, from.children - 1))).await;
    for each in tasks {
        seen += joined(each).await;
    }
    seen
}

fn spawn_search(tree: Tree, from: Node) -> JoinHandle<Counts> {
    tokio::spawn(search(tree, from))
}
