// The output of a task is an element of an array, and elements of arrays are what tasks wait for. The loops only describe
// the tasks: Turbine has some worker execute each as soon as the elements that it reads are set.
//
// An output is a string without a zero byte, not a blob. Arrays hold strings themselves, but only references
// to blobs, for which each task would take a second rule.
import location;
import sys;

// The first rank has the session. read_flags: of the first configuration to run, "" where there is none. answer: makes
// the record, and returns the next one's.
@dispatch=WORKER
(string flags) read_flags() "teff" "1.0" [ "set <<flags>> [ teff::read_flags [ turbine::turbine_workers ] ]" ];
@dispatch=WORKER
(void done) start() "teff" "1.0" [ "teff::start" ];
@dispatch=WORKER
(void done) stop() "teff" "1.0" [ "teff::stop" ];
@dispatch=WORKER
(string flags) answer(string outcomes[]) "teff" "1.0" [ "set <<flags>> [ teff::answer <<outcomes>> ]" ];

// Each rank has the configuration.
@dispatch=WORKER
(int rank) prepare(string flags) "teff" "1.0" [ "set <<rank>> [ teff::prepare [ adlb::comm_rank ] <<flags>> ]" ];
@dispatch=WORKER
(string outcome) take_outcome() "teff" "1.0" [ "set <<outcome>> [ teff::take_outcome ]" ];

// A task. Not dispatched, one without inputs would run amid the loop.
@dispatch=WORKER
(string output) execute(int graph, int timestep, int point) "teff" "1.0"
  [ "set <<output>> [ teff::execute <<graph>> <<timestep>> <<point>> ]" ];
@dispatch=WORKER
(string output) execute(int graph, int timestep, int point, string a) "teff" "1.0"
  [ "set <<output>> [ teff::execute <<graph>> <<timestep>> <<point>> <<a>> ]" ];
@dispatch=WORKER
(string output) execute(int graph, int timestep, int point, string a, string b) "teff" "1.0"
  [ "set <<output>> [ teff::execute <<graph>> <<timestep>> <<point>> <<a>> <<b>> ]" ];
@dispatch=WORKER
(string output) execute(int graph, int timestep, int point, string a, string b, string c) "teff" "1.0"
  [ "set <<output>> [ teff::execute <<graph>> <<timestep>> <<point>> <<a>> <<b>> <<c>> ]" ];
@dispatch=WORKER
(string output) execute_all(int graph, int timestep, int point, string inputs[]) "teff" "1.0"
  [ "set <<output>> [ teff::execute_all <<graph>> <<timestep>> <<point>> <<inputs>> ]" ];

// Of the configuration.
(int n) graphs() "teff" "1.0" [ "set <<n>> [ teff::graphs ]" ];
(int n) steps(int graph) "teff" "1.0" [ "set <<n>> [ teff::steps <<graph>> ]" ];
(int n) width(int graph) "teff" "1.0" [ "set <<n>> [ teff::width <<graph>> ]" ];
(int n) first(int graph, int timestep) "teff" "1.0" [ "set <<n>> [ teff::first <<graph>> <<timestep>> ]" ];
(int n) last(int graph, int timestep) "teff" "1.0" [ "set <<n>> [ teff::last <<graph>> <<timestep>> ]" ];
(int n) inputs(int graph, int timestep, int point) "teff" "1.0"
  [ "set <<n>> [ teff::inputs <<graph>> <<timestep>> <<point>> ]" ];
(int n) input(int graph, int timestep, int point, int index) "teff" "1.0"
  [ "set <<n>> [ teff::input <<graph>> <<timestep>> <<point>> <<index>> ]" ];
(int n) readers(int graph, int timestep, int point) "teff" "1.0"
  [ "set <<n>> [ teff::readers <<graph>> <<timestep>> <<point>> ]" ];

// Up to three inputs are arguments, more are gathered in an array. A macro, since a function would be a task itself.
#define INPUT(index) before[input(graph, timestep, point, index)]
#define EXECUTE(output)                                                              \
  switch (inputs(graph, timestep, point)) {                                          \
    case 0:                                                                          \
      output = execute(graph, timestep, point);                                      \
    case 1:                                                                          \
      output = execute(graph, timestep, point, INPUT(0));                            \
    case 2:                                                                          \
      output = execute(graph, timestep, point, INPUT(0), INPUT(1));                  \
    case 3:                                                                          \
      output = execute(graph, timestep, point, INPUT(0), INPUT(1), INPUT(2));        \
    default:                                                                         \
      string all[];                                                                  \
      foreach index in [0 : inputs(graph, timestep, point) - 1] {                    \
        all[index] = INPUT(index);                                                   \
      }                                                                              \
      output = execute_all(graph, timestep, point, all);                             \
  }

// Returns the outputs that no task reads. When they are there, all tasks are done.
(string unread[]) run_graph(int graph) {
  string none[];
  int end = steps(graph);
  for (int timestep = 0, string before[] = none; timestep < end; timestep = timestep + 1, before = after) {
    string after[];
    foreach point in [first(graph, timestep) : last(graph, timestep)] {
      if (readers(graph, timestep, point) > 0) {
        EXECUTE(after[point])
      } else {
        int task = timestep * width(graph) + point;
        EXECUTE(unread[task])
      }
    }
  }
}

main {
  location here = rank2location(0);
  string given = @location=here read_flags();
  for (string flags = given; flags != ""; flags = following) {
    string following;
    int prepared[];
    foreach rank in [0 : turbine_workers() - 1] {
      prepared[rank] = @location=rank2location(rank) prepare(flags);
    }
    wait (prepared) {
      void started = @location=here start();
      wait (started) {
        string unread[][];
        foreach graph in [0 : graphs() - 1] {
          unread[graph] = run_graph(graph);
        }
        wait deep (unread) {
          void stopped = @location=here stop();
          wait (stopped) {
            string outcomes[];
            foreach rank in [0 : turbine_workers() - 1] {
              outcomes[rank] = @location=rank2location(rank) take_outcome();
            }
            following = @location=here answer(outcomes);
          }
        }
      }
    }
  }
}
