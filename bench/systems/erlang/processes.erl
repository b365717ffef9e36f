%% A process for each column of every graph. It receives the outputs that its next task reads, in order,
%% executes the task, and sends its output to its readers. Nothing is shared. A task is a function in C. It
%% runs on the scheduler of its process, or, as "dirty", on Erlang's schedulers for long functions.
-module(processes).

-export([main/1]).

%% Where the dependences of a graph don't repeat, rows are made before the timed region, unless they are more.
-define(MOST_ROWS, 262144).

-record(column, {work, execute, graph, point, steps, all, rows}).

main([Variant]) ->
    Session = bench:open([unicode:characters_to_binary(Word) || Word <- init:get_plain_arguments()]),
    erlang:halt(serve(Session, Variant)).

serve(0, _) ->
    io:format(standard_error, "error: ~s~n", [bench:error()]),
    2;
serve(Session, Variant) ->
    erlang:system_flag(schedulers_online, min(bench:workers(Session), erlang:system_info(schedulers))),
    Workers = erlang:system_info(schedulers_online),
    Version = "OTP " ++ erlang:system_info(otp_release),
    bench:identify(Session, list_to_binary(Variant), list_to_binary(Version), Workers),
    answer_all(Session, Workers, execute(Variant)),
    bench:close(Session).

execute("processes") -> fun bench:execute/5;
execute("dirty") -> fun bench:execute_dirty/5.

answer_all(Session, Workers, Execute) ->
    case bench:next(Session, Workers) of
        0 ->
            ok;
        Work ->
            run(Work, Execute),
            bench:answer(Session, Work),
            answer_all(Session, Workers, Execute)
    end.

run(Work, Execute) ->
    Graphs = lists:seq(0, bench:graphs(Work) - 1),
    Columns = lists:append([graph(#column{work = Work, execute = Execute, graph = Graph}) || Graph <- Graphs]),
    [receive {ready, Column} -> ok end || Column <- Columns],
    bench:start(Work),
    [Column ! begin_now || Column <- Columns],
    [receive {done, Column} -> ok end || Column <- Columns],
    bench:stop(Work).

%% The processes of a graph. Each gets to know all of them.
graph(Its = #column{work = Work, graph = Graph}) ->
    Main = self(),
    Steps = bench:steps(Work, Graph),
    Columns = [spawn_link(fun() -> column(Main, Its#column{steps = Steps, point = Point}) end)
               || Point <- lists:seq(0, bench:width(Work, Graph) - 1)],
    All = list_to_tuple(Columns),
    [Column ! {all, All} || Column <- Columns],
    Columns.

column(Main, Alone = #column{work = Work, graph = Graph}) ->
    Self = receive {all, All} -> Alone#column{all = All} end,
    Ready = Self#column{rows = rows(Self, bench:cycle(Work, Graph))},
    Main ! {ready, self()},
    receive begin_now -> ok end,
    step(Ready, 0, none),
    Main ! {done, self()}.

%% Executes the task of a timestep and those after it. Mine is this process's output of the timestep before.
step(#column{steps = Steps}, Steps, _) ->
    ok;
step(Self = #column{work = Work, execute = Execute, graph = Graph, point = Point}, Timestep, Mine) ->
    case row(Self, Timestep) of
        absent ->
            step(Self, Timestep + 1, none);
        {Inputs, Readers} ->
            Read = [input(Each, Timestep, Point, Mine) || Each <- Inputs],
            Output = Execute(Work, Graph, Timestep, Point, Read),
            send(Readers, {Timestep + 1, Point, Output}, Timestep + 1, Self#column.steps),
            step(Self, Timestep + 1, Output)
    end.

input(Point, _, Point, Mine) ->
    Mine;
input(Point, Timestep, _, _) ->
    receive {Timestep, Point, Output} -> Output end.

send(_, _, Steps, Steps) ->
    ok;
send(Readers, Message, _, _) ->
    [Reader ! Message || Reader <- Readers],
    ok.

%% The rows of timesteps from 1 on, until they repeat.
rows(Self, 0) ->
    case Self#column.steps * tuple_size(Self#column.all) of
        Many when Many > ?MOST_ROWS -> {};
        _ -> rows(Self, Self#column.steps)
    end;
rows(Self, Count) ->
    list_to_tuple([made_row(Self, Timestep) || Timestep <- lists:seq(1, Count)]).

row(Self = #column{rows = Rows}, Timestep) when Timestep =:= 0; tuple_size(Rows) =:= 0 ->
    made_row(Self, Timestep);
row(#column{rows = Rows}, Timestep) ->
    element((Timestep - 1) rem tuple_size(Rows) + 1, Rows).

%% The points that a task reads, and the other processes that read it.
made_row(#column{work = Work, graph = Graph, point = Point, all = All}, Timestep) ->
    case bench:points(Work, Graph, Timestep) of
        {First, End} when Point >= First, Point < End ->
            Readers = bench:consumers(Work, Graph, Timestep, Point),
            {bench:inputs(Work, Graph, Timestep, Point),
             [element(Each + 1, All) || Each <- Readers, Each =/= Point]};
        _ ->
            absent
    end.
