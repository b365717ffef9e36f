/** An activity for each task: the last of those that it waits for spawns it, or goes on with it if no other became ready before. */
public class Asyncs {
    public static def main(flags:Rail[String]) {
        val make = (work:Workload, graph:Int) => new Tasks(work, graph) as Graph;
        Bench.drive("asyncs", flags, make, (all:PlaceLocalHandle[Part]) => {
            for (graph in all().graphs) (graph as Tasks).start(all);
        });
    }

    private static final class Tasks extends Graph {
        private static NONE = -1;

        def this(work:Workload, number:Int) { super(work, number); }

        /** Spawns the tasks that wait for nobody. */
        def start(all:PlaceLocalHandle[Part]):void {
            val first = work.firstPoint(number, 0);
            for (point in first..(first + work.points(number, 0) - 1)) {
                if (Waits.home(point, width) == here.id) async run(all, 0, point);
            }
        }

        /** Executes a task, and then those that became ready by it alone. */
        private def run(all:PlaceLocalHandle[Part], from:Long, column:Long):void {
            val cores = all().cores;
            val core = cores.take();
            var timestep:Long = from;
            for (var point:Long = column; point != NONE; ++timestep) {
                point = spawnReady(all, timestep + 1, execute(all, timestep, point, core));
            }
            cores.leave(core);
        }

        /** Spawns those tasks that wait for nobody any more, but the first of them, whose point it returns. */
        private def spawnReady(all:PlaceLocalHandle[Part], timestep:Long, points:Rail[Long]):Long {
            var first:Long = NONE;
            for (point in points) {
                if (!isReady(timestep, point)) continue;
                if (first == NONE) first = point;
                else async run(all, timestep, point);
            }
            return first;
        }

        protected def release(all:PlaceLocalHandle[Part], timestep:Long, points:Rail[Long]):void {
            val first = spawnReady(all, timestep, points);
            if (first != NONE) run(all, timestep, first);
        }
    }
}
