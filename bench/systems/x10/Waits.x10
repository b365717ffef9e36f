import x10.util.GrowableRail;

/** For whom a task waits, and who waits for it. */
final class Waits {
    /** The points whose outputs the task reads. */
    val inputs:Rail[Long];
    val predecessors:Long;
    /** The points that wait for the task in this place. */
    val successors:Rail[Long];
    /** The other places in which some read its output, and those in which some only wait. */
    val readers:Rail[Long];
    val others:Rail[Long];

    def this(work:Workload, graph:Int, timestep:Long, point:Long) {
        inputs = work.inputs(graph, timestep, point);
        predecessors = work.predecessors(graph, timestep, point);
        val width = work.width(graph);
        val local = new GrowableRail[Long]();
        val reading = new GrowableRail[Long]();
        val waiting = new GrowableRail[Long]();
        for (reader in work.consumers(graph, timestep, point)) {
            val home = home(reader, width);
            if (home != here.id && !reading.contains(home)) reading.add(home);
        }
        for (each in work.successors(graph, timestep, point)) {
            val home = home(each, width);
            if (home == here.id) local.add(each);
            else if (!reading.contains(home) && !waiting.contains(home)) waiting.add(home);
        }
        successors = local.toRail();
        readers = reading.toRail();
        others = waiting.toRail();
    }

    /** The number of the place where a point's tasks are executed. */
    static def home(point:Long, width:Long) = point * Place.numPlaces() / width;
}
