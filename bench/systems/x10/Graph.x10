import x10.util.concurrent.AtomicInteger;

/**
 * A graph as one place has it. Each place has a block of the points, and executes their tasks. It keeps the outputs of two
 * timesteps, also those of tasks in other places that its own read. They are overwritten in turn, so a task also waits for
 * those that read what it overwrites.
 */
abstract class Graph {
    /** Where nothing repeats, there are waits of each timestep, unless they are of more tasks than this. */
    private static MOST_TASKS = 1 << 18;

    private static NOBODY = new Rail[Long](0);

    protected val work:Workload;
    protected val number:Int;
    protected val steps:Long;
    protected val width:Long;
    private val size:Long;
    private val outputs:Rail[Byte];
    /** After how many timesteps the waits below repeat; 0 if there are none. */
    private val cycle:Long;
    private val waits:Rail[Waits];
    /** How many of those that a task waits for are done. */
    private val done:Rail[AtomicInteger];
    private val rowsOfDone:Long;

    def this(work:Workload, number:Int) {
        this.work = work;
        this.number = number;
        val steps = work.steps(number);
        val width = work.width(number);
        val repeats = work.cycle(number);
        val cycle = repeats == 0 && steps * width <= MOST_TASKS ? steps : repeats;
        // A counter is used again when no task of its row waits any more: each has run before its column is so far.
        val rowsOfDone = Math.max(repeats, 3) + 1;
        this.steps = steps;
        this.width = width;
        this.size = work.outputBytes(number);
        this.outputs = new Rail[Byte](2 * width * size);
        this.cycle = cycle;
        this.waits = cycle == 0 ? null
            : new Rail[Waits]((cycle + 1) * width, (i:Long) => new Waits(work, number, i / width, i % width));
        this.rowsOfDone = rowsOfDone;
        this.done = new Rail[AtomicInteger](rowsOfDone * width, (Long) => new AtomicInteger());
    }

    /** Executes a task on a core. Returns those points that wait for it here. */
    protected def execute(all:PlaceLocalHandle[Part], timestep:Long, point:Long, core:Int):Rail[Long] {
        val of = waits(timestep, point);
        work.execute(number, timestep, point, core, outputs, width, size, of.inputs);
        if (timestep + 1 == steps) return NOBODY;
        if (of.readers.size > 0) {
            val output = new Rail[Byte](size);
            Rail.copy(outputs, offset(timestep, point), output, 0, size);
            for (place in of.readers) tell(all, place, timestep, point, output);
        }
        for (place in of.others) tell(all, place, timestep, point, null);
        return of.successors;
    }

    /** Has a place know that a task is done, and its output if that is read there. */
    private def tell(all:PlaceLocalHandle[Part], place:Long, timestep:Long, point:Long, output:Rail[Byte]):void {
        val graph = number;
        at (Place(place)) async all().graphs(graph).receive(all, timestep, point, output);
    }

    /** An output comes only where somebody reads it: nobody has waited with its room for others, which may come late. */
    private def receive(all:PlaceLocalHandle[Part], timestep:Long, point:Long, output:Rail[Byte]):void {
        if (output != null) Rail.copy(output, 0, outputs, offset(timestep, point), size);
        release(all, timestep + 1, waits(timestep, point).successors);
    }

    /** One is done for which these points wait at a timestep. */
    protected abstract def release(all:PlaceLocalHandle[Part], timestep:Long, points:Rail[Long]):void;

    /** Counts one that a task has waited for. Whether it was the last. */
    protected def isReady(timestep:Long, point:Long):Boolean {
        val predecessors = waits(timestep, point).predecessors;
        val counter = done(timestep % rowsOfDone * width + point);
        if (predecessors > 1 && counter.incrementAndGet() < predecessors) return false;
        counter.set(0n);
        return true;
    }

    private def waits(timestep:Long, point:Long):Waits {
        if (cycle == 0) return new Waits(work, number, timestep, point);
        val row = timestep == 0 ? 0 : (timestep - 1) % cycle + 1;
        return waits(row * width + point);
    }

    private def offset(timestep:Long, point:Long) = (timestep % 2 * width + point) * size;
}
