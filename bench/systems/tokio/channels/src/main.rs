//! Tokio's tasks and channels: each point of a graph is a task of Tokio. It executes the point's tasks one
//! after the other, and sends its output to all tasks that wait for it. A channel for each pair holds one
//! message, so a sender is at most a timestep ahead of its slowest receiver.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::take;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;

use teff_bench::{Adapter, Task, Workload};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio::sync::Barrier;

/// An output that its readers share. None for tasks that only wait.
type Message = Option<Arc<[u8]>>;

/// If no timestep repeats, the rows of all timesteps are made before the timed region, up to this number.
const MOST_ROWS: i64 = 1 << 18;

thread_local! {
    static WORKER: Cell<i32> = const { Cell::new(0) };
    /// Where the inputs of a task lie.
    static PLACES: RefCell<Vec<*const u8>> = const { RefCell::new(Vec::new()) };
}

/// The tasks that a task waits for, and the tasks that wait for it.
#[derive(Default)]
struct Row {
    exists: bool,
    /// The receiver, and which input it brings, if any.
    receive: Vec<(usize, Option<usize>)>,
    /// The sender, and whether the output is read there.
    send: Vec<(usize, bool)>,
    /// Which input is the column's own last output.
    own: Option<usize>,
    inputs: usize,
}

/// A point of a graph.
struct Column {
    work: Workload,
    graph: i32,
    point: i64,
    /// Of the even and the odd timesteps.
    outputs: [Arc<[u8]>; 2],
    /// Of the first timestep, and of a cycle of those after it. Without a cycle each is made when it is needed.
    rows: Vec<Row>,
    last: Row,
    receivers: Vec<Receiver<Message>>,
    senders: Vec<Sender<Message>>,
    /// Which receiver and which sender are another point's.
    receiver_of: HashMap<i64, usize>,
    sender_of: HashMap<i64, usize>,
    /// The inputs that others have sent.
    held: Vec<Message>,
    /// The length of each input.
    sizes: Vec<usize>,
}

impl Column {
    fn new(work: Workload, graph: i32, point: i64) -> Column {
        let bytes = work.output_bytes(graph);
        Column {
            work,
            graph,
            point,
            outputs: [vec![0; bytes].into(), vec![0; bytes].into()],
            rows: Vec::new(),
            last: Row::default(),
            receivers: Vec::new(),
            senders: Vec::new(),
            receiver_of: HashMap::new(),
            sender_of: HashMap::new(),
            held: Vec::new(),
            sizes: vec![bytes; work.max_inputs(graph)],
        }
    }

    /// All columns of a graph, joined by channels.
    fn of_graph(work: Workload, graph: i32) -> Vec<Column> {
        let mut all: Vec<Column> = (0..work.width(graph))
            .map(|point| Column::new(work, graph, point))
            .collect();
        let (steps, cycle) = (work.steps(graph), work.cycle(graph));
        let repeats = if cycle > 0 { cycle } else { steps };
        for timestep in 1..=repeats.min(steps - 1) {
            for point in 0..all.len() {
                let task = all[point].task(timestep);
                for from in work.predecessors(task) {
                    if from != task.point && !all[point].receiver_of.contains_key(&from) {
                        let (sender, receiver) = channel(1);
                        all[point].receives_from(from, receiver);
                        all[from as usize].sends_to(task.point, sender);
                    }
                }
            }
        }
        let made = if repeats * work.width(graph) <= MOST_ROWS {
            repeats
        } else {
            cycle
        };
        for column in &mut all {
            column.rows = (0..=made).map(|timestep| column.row(timestep)).collect();
            column.last = column.row(steps - 1);
        }
        all
    }

    fn receives_from(&mut self, point: i64, receiver: Receiver<Message>) {
        self.receiver_of.insert(point, self.receivers.len());
        self.receivers.push(receiver);
    }

    fn sends_to(&mut self, point: i64, sender: Sender<Message>) {
        self.sender_of.insert(point, self.senders.len());
        self.senders.push(sender);
    }

    fn task(&self, timestep: i64) -> Task {
        Task {
            graph: self.graph,
            timestep,
            point: self.point,
        }
    }

    fn row(&self, timestep: i64) -> Row {
        let task = self.task(timestep);
        let inputs = self.work.inputs(task);
        let input_of = |point: i64| inputs.iter().position(|&each| each == point);
        let readers = self.work.consumers(task);
        let others = |points: Vec<i64>| points.into_iter().filter(|&point| point != self.point);
        Row {
            exists: self.work.exists(task),
            receive: others(self.work.predecessors(task))
                .map(|from| (self.receiver_of[&from], input_of(from)))
                .collect(),
            send: others(self.work.successors(task))
                .map(|to| (self.sender_of[&to], readers.contains(&to)))
                .collect(),
            own: input_of(self.point),
            inputs: inputs.len(),
        }
    }

    /// Executes the point's tasks.
    async fn run(mut self) {
        let last = self.work.steps(self.graph) - 1;
        let (rows, last_row) = (take(&mut self.rows), take(&mut self.last));
        for timestep in 0..=last {
            match timestep as usize {
                0 => self.execute(timestep, &rows[0]).await,
                _ if timestep == last => self.execute(timestep, &last_row).await,
                _ if rows.len() == 1 => self.execute(timestep, &self.row(timestep)).await,
                later => {
                    self.execute(timestep, &rows[(later - 1) % (rows.len() - 1) + 1])
                        .await
                }
            }
        }
    }

    async fn execute(&mut self, timestep: i64, row: &Row) {
        if !row.exists {
            return;
        }
        self.held.resize(row.inputs, None);
        // A worker's LIFO slot holds the task that its task wakes, and Tokio lets no worker steal from it. So
        // with as many columns as workers, two columns may run on one worker.
        for &(from, input) in &row.receive {
            let message = self.receivers[from]
                .recv()
                .await
                .expect("the sender is alive");
            if let Some(input) = input {
                self.held[input] = message;
            }
        }
        let output = self.compute(timestep, row);
        for &(to, reads) in &row.send {
            let message = reads.then(|| output.clone());
            self.senders[to]
                .send(message)
                .await
                .expect("the receiver is alive");
        }
    }

    /// Executes the task, and returns its output.
    fn compute(&mut self, timestep: i64, row: &Row) -> Arc<[u8]> {
        let task = self.task(timestep);
        let [even, odd] = &mut self.outputs;
        let (here, before) = if timestep % 2 == 0 {
            (even, odd)
        } else {
            (odd, even)
        };
        if let Some(own) = row.own {
            self.held[own] = Some(before.clone());
        }
        // The readers of the old output have dropped it: this task has waited for them.
        let output = Arc::get_mut(here).expect("nobody reads what is overwritten");
        PLACES.with_borrow_mut(|places| {
            places.clear();
            places.extend(
                self.held
                    .iter()
                    .map(|held| held.as_ref().expect("it was sent").as_ptr()),
            );
            unsafe {
                self.work.execute(
                    task,
                    WORKER.get(),
                    output,
                    places,
                    &self.sizes[..places.len()],
                )
            };
        });
        self.held.clear();
        here.clone()
    }
}

struct Channels {
    runtime: Runtime,
}

impl Channels {
    fn new(workers: i32) -> Channels {
        let started = AtomicI32::new(0);
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers as usize)
            .on_thread_start(move || {
                let worker = started.fetch_add(1, Ordering::Relaxed);
                WORKER.set(worker);
                teff_bench::bind_to_core(worker);
            })
            .build()
            .expect("threads can be had");
        Channels { runtime }
    }
}

/// Executes the columns in tasks of their own, from a task: none of it leaves the workers.
async fn run(work: Workload, columns: Vec<Column>) {
    let ready = Arc::new(Barrier::new(columns.len() + 1));
    let spawn = |column: Column| {
        let ready = ready.clone();
        tokio::spawn(async move {
            ready.wait().await;
            ready.wait().await;
            column.run().await;
        })
    };
    let tasks: Vec<_> = columns.into_iter().map(spawn).collect();
    ready.wait().await;
    work.start();
    ready.wait().await;
    for task in tasks {
        task.await.expect("no task panics");
    }
    work.stop();
}

impl Adapter for Channels {
    fn workers(&self) -> i32 {
        self.runtime.handle().metrics().num_workers() as i32
    }

    fn run(&self, work: Workload) {
        let columns = (0..work.graphs())
            .flat_map(|graph| Column::of_graph(work, graph))
            .collect();
        let all = self.runtime.spawn(run(work, columns));
        self.runtime.block_on(all).expect("no task panics");
    }
}

fn main() {
    std::process::exit(teff_bench::drive(
        "tokio",
        "channels",
        env!("TEFF_CRATE_VERSION"),
        Channels::new,
    ));
}
