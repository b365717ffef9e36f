import java.util.concurrent.atomic.AtomicIntegerArray;

/** Which tasks of a graph wait for which, and how many of those that a task waits for are done. */
final class Order {
  /** A cache line of counters, of which one is used: neighbours are counted by different threads. */
  private static final int APART = 16;

  private final Bench.Workload work;
  private final int graph;
  private final int width;
  private final int cycle;
  private final int rows;
  private final int[][] successors;
  private final int[] predecessors;
  private final AtomicIntegerArray done;

  Order(Bench.Workload work, int graph) {
    this.work = work;
    this.graph = graph;
    width = work.width(graph);
    cycle = work.cycle(graph);
    // A counter is used again when no task of its row waits any more: each has run before its column is so far.
    rows = Math.max(cycle, 3) + 1;
    successors = new int[cycle * width][];
    predecessors = new int[cycle * width];
    for (int timestep = 1; timestep <= cycle; ++timestep) {
      for (int point = 0; point < width; ++point) {
        successors[place(timestep, point)] = work.successors(graph, timestep, point);
        predecessors[place(timestep, point)] = work.predecessors(graph, timestep, point);
      }
    }
    done = new AtomicIntegerArray(rows * width * APART);
  }

  boolean exists(long timestep, int point) {
    if (cycle > 0) {
      return true;
    }
    int[] points = work.points(graph, timestep);
    return point >= points[0] && point < points[1];
  }

  /** The points at timestep + 1 that wait for a task. */
  int[] successors(long timestep, int point) {
    boolean repeats = cycle > 0 && timestep > 0 && timestep + 1 < work.steps(graph);
    return repeats ? successors[place(timestep, point)] : work.successors(graph, timestep, point);
  }

  /** Counts one that a task has waited for. Whether it was the last. */
  boolean isReady(long timestep, int point) {
    int all = cycle > 0 ? predecessors[place(timestep, point)] : work.predecessors(graph, timestep, point);
    int counter = ((int) (timestep % rows) * width + point) * APART;
    if (all > 1 && done.incrementAndGet(counter) < all) {
      return false;
    }
    done.lazySet(counter, 0);
    return true;
  }

  private int place(long timestep, int point) {
    return (int) ((timestep - 1) % cycle) * width + point;
  }
}
