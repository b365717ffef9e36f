import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

/**
 * The spawn patterns on a ForkJoinPool, for the class in tasks.hpp: a task is joined in the reverse order of its
 * forking, so that one that nobody has stolen is called. Null tasks, nodes and digests are C++'s.
 */
final class Patterns {
  private static ForkJoinPool pool;

  private Patterns() {}

  static native void nullTask(long index);

  /** A node is the five words of its state, its depth, and how many children it has. */
  static native void child(long tree, int[] of, int index, int[] child);

  /** How many threads have run a task at the same time. The pool may have one more then, for one that waits. */
  static int start(int workers) {
    pool = new ForkJoinPool(workers);
    return wakeAll();
  }

  static void warmUp() {
    for (int run = 0; run < 10; ++run) { // Java compiles what runs often; none of that is to be timed
      serialSpawn(5000);
      parallelSpawn(5000);
      fibonacciBoth(15);
      fibonacciOne(15);
    }
  }

  /** Returns when a task has run on each worker at the same time: on how many. */
  static int wakeAll() {
    CyclicBarrier all = new CyclicBarrier(pool.getParallelism());
    Set<Thread> met = ConcurrentHashMap.newKeySet();
    pool.invoke(action(() -> {
      RecursiveAction[] waiting = new RecursiveAction[pool.getParallelism()];
      for (int i = 0; i < waiting.length; ++i) {
        waiting[i] = action(() -> {
          met.add(Thread.currentThread());
          await(all);
        });
        waiting[i].fork();
      }
      joinAll(waiting);
    }));
    return met.size();
  }

  static void serialSpawn(long tasks) {
    pool.invoke(action(() -> {
      Null[] all = new Null[(int) tasks];
      for (int index = 0; index < all.length; ++index) {
        all[index] = new Null(index);
        all[index].fork();
      }
      joinAll(all);
    }));
  }

  static void parallelSpawn(long tasks) {
    pool.invoke(new Halves(0, tasks));
  }

  static long fibonacciBoth(int n) {
    Both all = new Both(n);
    pool.invoke(all);
    return all.result;
  }

  static long fibonacciOne(int n) {
    One all = new One(n);
    pool.invoke(all);
    return all.result;
  }

  /** Nodes, leaves and depth of the tree below a node. */
  static long[] searchTree(long tree, int[] from) {
    Search all = new Search(tree, from);
    pool.invoke(all);
    return new long[] {all.nodes, all.leaves, all.depth};
  }

  private static void joinAll(RecursiveAction[] forked) {
    for (int i = forked.length - 1; i >= 0; --i) {
      forked[i].join();
    }
  }

  private static void await(CyclicBarrier all) {
    try {
      all.await();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static RecursiveAction action(Runnable body) {
    return new RecursiveAction() {
      @Override
      protected void compute() {
        body.run();
      }
    };
  }

  private static final class Null extends RecursiveAction {
    private final long index;

    Null(long index) {
      this.index = index;
    }

    @Override
    protected void compute() {
      nullTask(index);
    }
  }

  private static final class Halves extends RecursiveAction {
    private final long first;
    private final long end;

    Halves(long first, long end) {
      this.first = first;
      this.end = end;
    }

    @Override
    protected void compute() {
      if (end - first == 1) {
        nullTask(first);
        return;
      }
      long middle = first + (end - first) / 2;
      Halves second = new Halves(middle, end);
      second.fork();
      new Halves(first, middle).compute();
      second.join();
    }
  }

  private static final class Both extends RecursiveAction {
    private final int n;
    private long result;

    Both(int n) {
      this.n = n;
    }

    @Override
    protected void compute() {
      if (n < 2) {
        result = n;
        return;
      }
      Both a = new Both(n - 1);
      Both b = new Both(n - 2);
      a.fork();
      b.fork();
      b.join();
      a.join();
      result = a.result + b.result;
    }
  }

  private static final class One extends RecursiveAction {
    private final int n;
    private long result;

    One(int n) {
      this.n = n;
    }

    @Override
    protected void compute() {
      if (n < 2) {
        result = n;
        return;
      }
      One a = new One(n - 1);
      a.fork();
      One b = new One(n - 2);
      b.compute();
      a.join();
      result = a.result + b.result;
    }
  }

  /** Counts a node and what is below it. Each child is a task but the last. */
  private static final class Search extends RecursiveAction {
    private static final int DEPTH = 5;
    private static final int CHILDREN = 6;
    private final long tree;
    private final int[] from;
    private long nodes = 1;
    private long leaves;
    private long depth;

    Search(long tree, int[] from) {
      this.tree = tree;
      this.from = from;
      depth = from[DEPTH];
    }

    @Override
    protected void compute() {
      int children = from[CHILDREN];
      if (children == 0) {
        leaves = 1;
        return;
      }
      Search[] below = new Search[children];
      for (int index = 0; index < children; ++index) {
        int[] node = new int[from.length];
        child(tree, from, index, node);
        below[index] = new Search(tree, node);
        if (index + 1 < children) {
          below[index].fork();
        }
      }
      below[children - 1].compute();
      for (int index = children - 1; index >= 0; --index) {
        if (index + 1 < children) {
          below[index].join();
        }
        nodes += below[index].nodes;
        leaves += below[index].leaves;
        depth = Math.max(depth, below[index].depth);
      }
    }
  }
}
