import x10.util.GrowableRail;
import x10.util.concurrent.AtomicLong;
import x10.xrx.Runtime;

/** An activity for each worker, which has a block of each graph's points and executes their tasks in turn. */
public class Blocks {
    public static def main(flags:Rail[String]) {
        val make = (work:Workload, graph:Int) => Columns.make(work, graph);
        Bench.drive("blocks", flags, make, (all:PlaceLocalHandle[Part]) => {
            // X10 starts another thread for one that waits for a clock. Then each activity has a thread: none would run if it waited
            // in the queue of a worker that looks for what it is to do.
            clocked finish for (block in 0..(Runtime.NTHREADS - 1)) clocked async {
                Clock.advanceAll();
                execute(all, block);
            }
        });
    }

    /** Whenever none of its tasks is ready, it receives what other places tell. */
    private static def execute(all:PlaceLocalHandle[Part], block:Long):void {
        val columns = new GrowableRail[Column]();
        for (graph in all().graphs) (graph as Columns).add(block, columns);
        val cores = all().cores;
        val core = cores.take();
        for (var left:Long = columns.size(); left > 0;) {
            var isIdle:Boolean = true;
            for (i in 0..(columns.size() - 1)) {
                if (!columns(i).runIfReady(all, core)) continue;
                if (columns(i).isDone()) --left;
                isIdle = false;
            }
            if (isIdle) {
                Runtime.probe();
                Workload.yieldCore();
            }
        }
        cores.leave(core);
    }

    private static final class Columns extends Graph {
        private var columns:Rail[Column];

        def this(work:Workload, number:Int) { super(work, number); }

        static def make(work:Workload, number:Int):Graph {
            val made = new Columns(work, number);
            made.columns = new Rail[Column](made.width, (point:Long) => new Column(made, point, made.lastTimestep(point)));
            val first = work.firstPoint(number, 0);
            for (point in first..(first + work.points(number, 0) - 1)) made.columns(point).ready.set(0);
            return made;
        }

        /** Of a block of the points that this place has. */
        def add(block:Long, to:GrowableRail[Column]):void {
            val blocks = Runtime.NTHREADS * Place.numPlaces();
            val own = here.id * Runtime.NTHREADS + block;
            for (column in columns) {
                if (column.point * blocks / width == own && !column.isDone()) to.add(column);
            }
        }

        /** -1 where the point never has a task. */
        private def lastTimestep(point:Long):Long {
            for (var timestep:Long = steps - 1; timestep >= 0; --timestep) {
                val first = work.firstPoint(number, timestep);
                if (first <= point && point < first + work.points(number, timestep)) return timestep;
            }
            return -1;
        }

        def run(all:PlaceLocalHandle[Part], timestep:Long, point:Long, core:Int):void {
            release(all, timestep + 1, execute(all, timestep, point, core));
        }

        protected def release(all:PlaceLocalHandle[Part], timestep:Long, points:Rail[Long]):void {
            for (point in points) {
                if (isReady(timestep, point)) columns(point).ready.set(timestep);
            }
        }
    }

    /** The tasks of a point. */
    private static final class Column(graph:Columns, point:Long, last:Long) {
        /** The timestep whose task waits for nobody any more. */
        val ready = new AtomicLong(-1);
        private var done:Long = -1;

        def isDone() = done == last;

        def runIfReady(all:PlaceLocalHandle[Part], core:Int):Boolean {
            val timestep = ready.get();
            if (timestep == done) return false;
            graph.run(all, timestep, point, core);
            done = timestep;
            return true;
        }
    }
}
