/** What a place has of a configuration. */
final class Part {
    private val work:Workload;
    val cores = new Cores();
    val graphs:Rail[Graph];

    def this(work:Workload, make:(Workload, Int)=>Graph) {
        this.work = work;
        if (here != Place.FIRST_PLACE) work.start(); // of its CPU time
        graphs = new Rail[Graph](work.graphs(), (graph:Long) => make(work, graph as Int));
    }

    /** What its workers have done. The first place has the time, and the workload from the session. */
    def outcome():Rail[Byte] {
        val isFirst = here == Place.FIRST_PLACE;
        if (!isFirst) work.stop();
        val outcome = work.outcome(isFirst);
        if (!isFirst) work.free();
        return outcome;
    }
}
