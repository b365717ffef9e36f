import java.util.concurrent.atomic.AtomicIntegerArray;

/** Which tasks of a graph wait for which, and how many of those that a task waits for are done. */
final class Order {
  /** A cache line of counters, of which one is used: neighbours are counted by different threads. */
  private static final int APART = 16;
  /** Where nothing repeats, there is a row for each timestep, unless they have more tasks than this. */
  private static final int MOST_ROWS = 1 << 18;
  private static final int[] NOBODY = {};

  private final Bench.Workload work;
  private final int graph;
  private final int width;
  private final long steps;
  /** After how many timesteps the rows below repeat; 0 if there are none. */
  private final int cycle;
  private final int rows;
  private final int[][] successors;
  private final int[] predecessors;
  private final AtomicIntegerArray done;

  Order(Bench.Workload work, int graph) {
    this.work = work;
    this.graph = graph;
    width = work.width(graph);
    steps = work.steps(graph);
    int repeats = work.cycle(graph);
    // A counter is used again when no task of its row waits any more: each has run before its column is so far.
    rows = Math.max(repeats, 3) + 1;
    cycle = repeats == 0 && steps * width <= MOST_ROWS ? (int) steps : repeats;
    successors = new int[(cycle + 1) * width][];
    predecessors = new int[(cycle + 1) * width];
    for (int timestep = 0; timestep <= cycle; ++timestep) {
      int[] points = work.points(graph, timestep);
      for (int point = points[0]; point < points[1]; ++point) {
        successors[place(timestep, point)] = work.successors(graph, timestep, point);
        predecessors[place(timestep, point)] = work.predecessors(graph, timestep, point);
      }
    }
    done = new AtomicIntegerArray(rows * width * APART);
  }

  boolean exists(long timestep, int point) {
    if (cycle > 0) {
      return successors[place(timestep, point)] != null;
    }
    int[] points = work.points(graph, timestep);
    return point >= points[0] && point < points[1];
  }

  /** The points at timestep + 1 that wait for a task. */
  int[] successors(long timestep, int point) {
    if (timestep + 1 == steps) {
      return NOBODY;
    }
    return cycle > 0 ? successors[place(timestep, point)] : work.successors(graph, timestep, point);
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
    int row = timestep == 0 ? 0 : (int) ((timestep - 1) % cycle) + 1;
    return row * width + point;
  }
}
