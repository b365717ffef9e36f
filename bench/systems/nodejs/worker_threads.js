// Worker threads with shared memory: each owns a block of columns of every graph, and runs them timestep by timestep.
// All workers see how far each column is. A worker that waits for another's column spins a little, then
// sleeps until it is notified.
'use strict';

const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');
const bench = require(process.env.TEFF_NODEJS_ADDON);

const SPINS = 20000; // some 50 us, in which most neighbours finish; sleeping costs as much
const MOST_ROWS = 1 << 18; // if no timestep repeats, at most so many rows are made before the timed region
const WARM_UP = { flags: '-type stencil_1d -width 8 -steps 3000', runs: 5 }; // Node compiles what runs often

// Numbers in shared memory that only grow, and for which threads wait.
class Marks {
  constructor(buffer) {
    const half = buffer.byteLength / 2;
    this.values = new Int32Array(buffer, 0, half / 4);
    this.sleepers = new Int32Array(buffer, half, half / 4);
  }

  static buffer(count) {
    return new SharedArrayBuffer(8 * Marks.APART * count);
  }

  get(index) {
    return Atomics.load(this.values, index * Marks.APART);
  }

  // A worker that goes to sleep registers before it looks at the value a last time; set() looks for sleepers
  // after it has set the value.
  set(index, value) {
    const at = index * Marks.APART;
    Atomics.store(this.values, at, value);
    if (Atomics.load(this.sleepers, at) > 0) Atomics.notify(this.values, at);
  }

  add(index) {
    const at = index * Marks.APART;
    Atomics.add(this.values, at, 1);
    if (Atomics.load(this.sleepers, at) > 0) Atomics.notify(this.values, at);
  }

  // Waits until a mark is at least `least`.
  reach(index, least, spins) {
    const at = index * Marks.APART;
    for (let i = 0; i < spins; ++i) if (Atomics.load(this.values, at) >= least) return;
    Atomics.add(this.sleepers, at, 1);
    for (let seen; (seen = Atomics.load(this.values, at)) < least; ) Atomics.wait(this.values, at, seen);
    Atomics.sub(this.sleepers, at, 1);
  }
}
Marks.APART = 32; // a mark lies in separate cache lines: two, as they are fetched in pairs

// The marks that the main thread and the workers share, each of all runs together.
const READY = 0; // workers that were ready
const BEGUN = 1; // runs that have begun
const DONE = 2; // workers that were done

// ---- A worker ----------------------------------------------------------------------------------------------

// The columns of a graph that a worker owns.
class Block {
  constructor(work, graph, worker, workers, marks, base) {
    Object.assign(this, { work, graph, worker, marks, base });
    this.steps = bench.steps(work, graph);
    this.width = bench.width(work, graph);
    this.first = Math.floor((worker * this.width) / workers);
    this.end = Math.floor(((worker + 1) * this.width) / workers);
    this.cycle = bench.cycle(work, graph);
    this.rows = [this.row(0)];
    const rows = this.cycle === 0 && this.steps * this.width <= MOST_ROWS ? this.steps : this.cycle;
    for (let timestep = 1; timestep <= rows; ++timestep) this.rows.push(this.row(timestep));
  }

  // The points of a timestep that there are, and others' columns that each waits for.
  row(timestep) {
    const [from, to] = bench.points(this.work, this.graph, timestep);
    const tasks = [];
    for (let point = Math.max(this.first, from); point < Math.min(this.end, to); ++point) {
      const all = bench.predecessors(this.work, this.graph, timestep, point);
      const awaited = Int32Array.from(all.filter((each) => each < this.first || each >= this.end));
      tasks.push({ point, awaited });
    }
    return tasks;
  }

  run(timestep, spins) {
    if (timestep >= this.steps) return;
    for (const { point, awaited } of this.prepared(timestep)) {
      for (let i = 0; i < awaited.length; ++i) this.marks.reach(this.base + awaited[i], timestep, spins);
      bench.execute(this.work, this.graph, timestep, point, this.worker);
      this.marks.set(this.base + point, timestep + 1);
    }
  }

  prepared(timestep) {
    if (timestep === 0) return this.rows[0];
    return this.rows.length > 1 ? this.rows[((timestep - 1) % (this.rows.length - 1)) + 1] : this.row(timestep);
  }
}

function blocks(work, worker, workers, marks) {
  const all = [];
  let base = 0;
  for (let graph = 0; graph < bench.graphs(work); ++graph) {
    all.push(new Block(work, graph, worker, workers, marks, base));
    base += bench.width(work, graph);
  }
  return all;
}

function serve({ worker, workers, spins, controls }) {
  const common = new Marks(controls);
  let runs = 0;
  bench.bindToCore(worker);
  parentPort.on('message', ({ work, columns }) => {
    const mine = blocks(work, worker, workers, new Marks(columns));
    const steps = Math.max(...mine.map((block) => block.steps));
    common.add(READY);
    common.reach(BEGUN, ++runs, spins);
    for (let timestep = 0; timestep < steps; ++timestep)
      for (const block of mine) block.run(timestep, spins);
    common.add(DONE);
  });
}

// ---- The main thread ---------------------------------------------------------------------------------------

class Team {
  constructor(workers) {
    const controls = Marks.buffer(3);
    const spins = workers > bench.usableCores() ? 0 : SPINS; // the worker that we wait for may need our core
    this.controls = new Marks(controls);
    this.runs = 0;
    this.members = Array.from(
      { length: workers },
      (_, worker) => new Worker(__filename, { workerData: { worker, workers, spins, controls } }),
    );
  }

  run(work) {
    let width = 0;
    for (let graph = 0; graph < bench.graphs(work); ++graph) width += bench.width(work, graph);
    const columns = Marks.buffer(width);
    for (const member of this.members) member.postMessage({ work, columns });
    const all = ++this.runs * this.members.length;
    this.controls.reach(READY, all, 0);
    bench.start(work);
    this.controls.set(BEGUN, this.runs);
    this.controls.reach(DONE, all, 0);
    bench.stop(work);
  }

  // How many threads have said that they were ready, in each run.
  workers() {
    return this.controls.get(READY) / this.runs;
  }

  warmUp() {
    for (let run = 0; run < WARM_UP.runs; ++run) {
      const work = bench.create(WARM_UP.flags, this.members.length);
      this.run(work);
      bench.destroy(work);
    }
  }
}

function main() {
  const session = bench.open(process.argv.slice(2));
  if (session === 0) {
    process.stderr.write(`error: ${bench.error()}\n`);
    return 2;
  }
  const workers = bench.workers(session);
  const identify = (seen) => bench.identify(session, seen, 'worker_threads', `Node.js ${process.versions.node}`);
  identify(0);
  let team;
  for (let work; (work = bench.next(session, workers)) !== 0; bench.answer(session, work)) {
    if (team === undefined) {
      team = new Team(workers);
      team.warmUp();
      identify(team.workers());
    }
    team.run(work);
  }
  return bench.close(session);
}

if (isMainThread) process.exit(main());
else serve(workerData);
