//! The spawn patterns on rayon: join for a fork of two and for a tree's children, scope if both of
//! Fibonacci's calls are tasks, or a parallel iterator down to single indices.

use rayon::prelude::*;
use spawn_patterns::{null_task, pin, Body, Counts, Node, Patterns, Tree};

struct Rayon;
spawn_patterns::offer!(Rayon);

impl Patterns for Rayon {
    fn start(workers: usize) -> usize {
        rayon::ThreadPoolBuilder::new()
            .num_threads(workers)
            .start_handler(pin)
            .stack_size(256 << 20)
            .build_global()
            .map_or(0, |_| rayon::broadcast(|_| ()).len())
    }

    /// In a worker.
    fn run(body: Body) {
        rayon::broadcast(|_| ());
        rayon::scope(|_| body.call());
    }

    fn serial_spawn(tasks: i64) {
        rayon::scope(|scope| {
            for index in 0..tasks {
                scope.spawn(move |_| null_task(index));
            }
        });
    }

    fn parallel_spawn(tasks: i64) {
        (0..tasks as usize)
            .into_par_iter()
            .with_max_len(1)
            .for_each(|index| null_task(index as i64));
    }

    fn fibonacci_both(n: i32) -> i64 {
        if n < 2 {
            return n as i64;
        }
        let (mut a, mut b) = (0, 0);
        rayon::scope(|scope| {
            scope.spawn(|_| a = Rayon::fibonacci_both(n - 1));
            scope.spawn(|_| b = Rayon::fibonacci_both(n - 2));
        });
        a + b
    }

    fn fibonacci_one(n: i32) -> i64 {
        if n < 2 {
            return n as i64;
        }
        let (a, b) = rayon::join(
            || Rayon::fibonacci_one(n - 1),
            || Rayon::fibonacci_one(n - 2),
        );
        a + b
    }

    fn search_tree(tree: Tree, root: Node) -> Counts {
        search(tree, root)
    }
}

fn search(tree: Tree, from: Node) -> Counts {
    if from.children == 0 {
        Counts::of(&from)
    } else {
        search_children(tree, &from, 0)
    }
}

/// Counts a node and the descendants of its children from the first on. Each child but the last makes the search of its
/// later siblings a task.
fn search_children(tree: Tree, from: &Node, first: i32) -> Counts {
    let here = || search(tree, tree.child(from, first));
    let (mut seen, later) = if first + 1 == from.children {
        (here(), Counts::of(from))
    } else {
        rayon::join(here, || search_children(tree, from, first + 1))
    };
    seen += later;
    seen
}
