/* How an epoch ends (completion.md): three ranks, explored by spin in all interleavings.
 *
 * Steps have their names in completion.md and communicator_core.cpp. With -DCHAIN=1 the tree is a chain, so that rank 1
 * is an inner rank; otherwise rank 0 has two children. -DFAULT=n puts in the n-th fault; completion_model.sh lists them.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef CHAIN
#define CHAIN 0
#endif
#ifndef MESSAGES
#define MESSAGES 2   /* that all bodies and handlers send */
#endif
#ifndef STRAYS
#define STRAYS 1     /* that a thread of no activity sends */
#endif

#define PARENT(r) (CHAIN -> r - 1 : 0)
#define CHILDREN(r) (CHAIN -> (r < 2 -> 1 : 0) : (r == 0 -> 2 : 0))

mtype = { report, ask, end };
chan up[3] = [2] of { mtype, byte, byte };  /* from rank r to its parent: sums of sent and handled */
chan down[3] = [2] of { mtype };            /* to rank r from its parent */

/* Messages of this epoch on their way, and messages stamped with the next one. */
byte way[9];
byte next_epoch = 0;
byte budget = MESSAGES;
byte strays = STRAYS;

byte sent[3], received[3], handled[3];
bool body[3] = true;    /* the body runs */
bool running[3];        /* a handler runs */
bool sealed[3], ended[3];
bool giving[3];
bool locked[3];         /* the lock of a peer: held while a message is stamped and counted */

/* The wave. */
byte parts[3], sum_sent[3], sum_handled[3];
bool own_given[3];
bool has_last; byte last_handled;
byte vain_waves;        /* that did not end the epoch although nothing was left */

#define PASSIVE(r) (!body[r] && !running[r] && (FAULT == 2 || handled[r] == received[r]))
#define NOTHING_ON_ITS_WAY (way[0] + way[1] + way[2] + way[3] + way[4] + way[5] + way[6] + way[7] + way[8] == 0)
#define ALL_AT_REST (!body[0] && !body[1] && !body[2] && !running[0] && !running[1] && !running[2] \
  && handled[0] == received[0] && handled[1] == received[1] && handled[2] == received[2])

#if FAULT == 1
#define DECIDED (sum_handled[0] == sum_sent[0])
#elif FAULT == 11
#define DECIDED (has_last && last_handled == sum_sent[0] && sum_sent[0] == 0)
#elif FAULT == 3
#define DECIDED (has_last && last_handled == sum_handled[0])
#else
#define DECIDED (has_last && last_handled == sum_sent[0])
#endif

inline new_wave(r) {
  parts[r] = 0; own_given[r] = false;
  if
  :: FAULT == 8 -> skip                       /* the sums of the last wave stay */
  :: else -> sum_sent[r] = 0; sum_handled[r] = 0
  fi
}

inline tell_children(r, what) {
  if
  :: CHAIN && r < 2 -> down[r + 1]!what
  :: !CHAIN && r == 0 -> down[1]!what; down[2]!what
  :: else -> skip
  fi
}

/* try_send(): to any rank, within an activity. */
inline send(r) {
  atomic {
    budget > 0 && !locked[r] -> budget--;
    assert(!sealed[r]);                        /* else it would come to the next epoch */
    sent[r]++;
    if :: way[r * 3]++ :: way[r * 3 + 1]++ :: way[r * 3 + 2]++ fi
  }
}

/* The activities of a rank: its body, then handlers, one at a time. */
proctype activities(byte r) {
  do
  :: send(r)
  :: true -> body[r] = false; break            /* body_ended() */
  od;
  do
  :: atomic { handled[r] < received[r] -> running[r] = true };   /* handle_one() */
    do
    :: send(r)
    :: true -> break
    od;
    atomic { running[r] = false; handled[r]++ }
  :: ended[r] && handled[r] == received[r] -> break
  od
}

/* A thread that belongs to no activity: its message belongs to this epoch or the next. */
proctype stray(byte r) {
  bool stamp;
  do
  :: atomic { strays > 0 && !locked[r] -> strays--; locked[r] = true };
    stamp = (FAULT != 6 && sealed[r]);
    atomic {
      if
      :: stamp -> next_epoch++
      :: else -> sent[r]++; vain_waves = 0; if :: way[r * 3 + 1]++ :: way[r * 3 + 2]++ fi
      fi;
      locked[r] = false
    }
  :: strays == 0 || ended[r] -> break
  od
}

/* accept_messages(): each message on its way comes in the end. */
inline receive(r, f) {
  atomic {
    way[f * 3 + r] > 0 && !giving[r] -> way[f * 3 + r]--;
    assert(!ended[r]);
    if :: FAULT != 7 -> sealed[r] = false :: else -> skip fi;   /* or the seal is not broken */
    received[r]++
  }
}

proctype arrivals(byte r) {
  do
  :: receive(r, 0)
  :: receive(r, 1)
  :: receive(r, 2)
  :: ended[r] && way[r] + way[3 + r] + way[6 + r] == 0 -> break
  od
}

/* progress() without messages, by any worker. `giving` is its lock, under which no message is received. */
proctype progress(byte r) {
  byte s, h;
  do
  /* give_counts(): passive */
  :: atomic {
      !ended[r] && !own_given[r] && (FAULT == 4 || parts[r] == CHILDREN(r)) && PASSIVE(r) -> giving[r] = true
    };
    sealed[r] = true;
    atomic { !locked[r] -> s = sent[r] };
    atomic {
      giving[r] = false;
      own_given[r] = true;
      sum_sent[r] = sum_sent[r] + s;
      sum_handled[r] = sum_handled[r] + (FAULT == 2 -> handled[r] : received[r])
    };
    if
    :: r != 0 -> up[r]!report(sum_sent[r], sum_handled[r])
    :: else ->                                                   /* decide */
      if
      :: DECIDED ->
        assert(NOTHING_ON_ITS_WAY && ALL_AT_REST);
        ended[0] = true; tell_children(0, end)
      :: else ->
        atomic {
          has_last = true; last_handled = (FAULT == 9 -> sum_sent[0] : sum_handled[0]); new_wave(0);
          if
          :: NOTHING_ON_ITS_WAY && ALL_AT_REST -> vain_waves++; assert(vain_waves <= 2)   /* it ends */
          :: else -> skip
          fi
        };
        tell_children(0, ask)
      fi
    fi
  /* reported */
  :: !CHAIN && r == 0 && up[1]?[report, _, _] ->
    atomic { up[1]?report(s, h); parts[0]++; sum_sent[0] = sum_sent[0] + s; sum_handled[0] = sum_handled[0] + h }
  :: !CHAIN && r == 0 && up[2]?[report, _, _] ->
    atomic { up[2]?report(s, h); parts[0]++; sum_sent[0] = sum_sent[0] + s; sum_handled[0] = sum_handled[0] + h }
  :: CHAIN && r < 2 && up[r + 1]?[report, _, _] ->
    atomic { up[r + 1]?report(s, h); parts[r]++; sum_sent[r] = sum_sent[r] + s; sum_handled[r] = sum_handled[r] + h }
  :: down[r]?[ask] ->                                            /* asked */
    atomic { down[r]?ask; new_wave(r) };
    if :: FAULT == 5 && r != 0 -> skip :: else -> tell_children(r, ask) fi
  :: down[r]?[end] ->                                            /* ended */
    atomic { down[r]?end; ended[r] = true };
    assert(NOTHING_ON_ITS_WAY && ALL_AT_REST);
    if :: FAULT == 10 -> skip :: else -> tell_children(r, end) fi
  :: ended[r] -> break
  od
}

init {
  atomic {
    run activities(0); run activities(1); run activities(2);
    run arrivals(0); run arrivals(1); run arrivals(2);
    run progress(0); run progress(1); run progress(2);
    run stray(2)
  }
}
