/*
 * A call that becomes a task: src/server/call_task.cpp and src/server/task_desk.cpp, with the same names.
 *
 * Two words, the wire's and the task's; the handler works for the task's. The store is a queue of writes that the keeper
 * takes one by one, and what is asked of the store goes through the same queue. The process may be killed at any moment:
 * what is in the store then is what a restarted server has, with what still works made failed.
 *
 * Threads: the handler (becomes a task, then returns), the client (cancels the call; or, once it has the task, the task,
 * and looks at it), an operator who stops the task's request whenever he likes.
 */

mtype = { running, responding, cancelled };         /* a request's word */
mtype = { absent, working, done, stopped, failed }; /* a task, in the store */

mtype wire = running;
mtype task = running;

/* What the keeper has to do: a write, or a look for the one who waits. */
chan queue = [4] of { mtype };
mtype looks_get;
mtype looks_cancel;
mtype = { w_create, w_done, w_stopped, w_failed, get_look, cancel_look };
mtype store = absent;

bool born;        /* CreateTaskResult was sent */
bool silent;      /* the wire's request was cancelled: nothing was sent */
bool refused_by_us; /* an operator stopped the call before it was a task: the client was told so */
bool written;     /* the keeper has said that the creation is on the disk */
bool decided;
bool handler_told;
bool handler_over;
bool crashed;
mtype final = absent; /* what was decided */

bool acked_cancel;    /* the client has heard that its cancel stands */
bool cancel_won;      /* its cancel was the one */
mtype seen = absent;  /* an end that the client has read */

#define alive (!crashed)

/* live_task::decide(), task_desk::end() */
inline decide(how, write) {
    atomic {
        if
        :: decided
        :: else ->
            decided = true;
            final = how;
#ifndef BROKEN_DECIDE
            queue!write
#endif
        fi
    }
#ifdef BROKEN_DECIDE
    if
    :: final == how && len(queue) < 4 -> queue!write
    :: else
    fi
#endif
}

/* The cancel of the task's request was accepted: call_state::tell_of_cancel(). */
inline task_cancelled(how, write) {
    handler_told = true;
#ifndef BROKEN_WIRE
    atomic { if :: wire == running -> wire = cancelled; refused_by_us = true :: else fi };
#endif
    if
    :: wire == responding -> decide(how, write) /* there is a task */
    :: else
    fi
}

active proctype handler() provided (alive) {
    /* become_task(): written down first, then decided by the wire's word. */
#ifdef BROKEN_BIRTH
    atomic { if :: wire == running -> wire = responding; born = true :: else fi };
#endif
    queue!w_create;
    written; /* the keeper's answer, on the loop */
#ifndef BROKEN_BIRTH
    atomic { if :: wire == running -> wire = responding; born = true :: else fi };
#endif
    if
    :: !born -> decide(stopped, w_stopped) /* DIR-5 */
    :: else ->
        if /* it works, and ends by itself or because it is told */
        :: skip
        :: handler_told
        fi;
        atomic { if :: task == running -> task = responding :: else fi };
        if
        :: task == responding -> decide(done, w_done)
        :: else
        fi
    fi;
    handler_over = true
}

active proctype client() provided (alive) {
    if
    :: true -> /* notifications/cancelled, whenever it comes */
        atomic { if :: wire == running -> wire = cancelled; silent = true :: else goto over fi };
        /* passed on */
#ifndef BROKEN_PASS_ON
        atomic { if :: task == running -> task = cancelled :: else fi };
        handler_told = true
#endif
    :: born -> /* tasks/cancel, which only who has the task's id can send */
        atomic { if :: task == running -> task = cancelled; cancel_won = true :: else fi };
        if
        :: cancel_won -> task_cancelled(stopped, w_stopped)
        :: else -> decided /* until_decided() */
        fi;
#ifdef BROKEN_ACK
        acked_cancel = cancel_won;
#endif
        queue!cancel_look;
        looks_cancel != 0;
        assert(looks_cancel != absent);
        acked_cancel = cancel_won
    :: born && decided -> /* tasks/get of one that has ended */
        queue!get_look;
        looks_get != 0;
        assert(looks_get != absent && looks_get != working);
        seen = looks_get
    fi;
over:
    skip
}

active proctype operator() provided (alive) {
    if
    :: atomic { task == running -> task = cancelled };
        task_cancelled(failed, w_failed)
    :: true
    fi
}

active proctype keeper() provided (alive) {
    mtype what;
end:
    do
    :: queue?what ->
        atomic {
            if
            :: what == w_create -> store = working; written = true
            :: what == w_done -> store = done
            :: what == w_stopped -> store = stopped
            :: what == w_failed -> store = failed
            :: what == get_look -> looks_get = store
            :: what == cancel_look -> looks_cancel = store
            fi
        }
    od
}

/* What a restarted server has. */
inline restarted() {
    if :: store == working -> store = failed :: else fi; /* task_keeper: what died is failed */
    assert(!born || store != absent);          /* who has a task finds it */
    assert(!acked_cancel || store == stopped); /* a cancel that was acknowledged stands (TASK-3) */
    assert(seen == absent || store == seen);   /* and so does an end that was read */
    assert(!(born && silent))                  /* never both */
}

/* kill -9, or never. */
active proctype killer() {
    if
    :: true
    :: true ->
        crashed = true;
        restarted();
        do :: crashed -> skip; skip od /* whoever was killed is not a deadlock */
    fi
}

/* Nobody has anything to do any more. */
active proctype quiet() {
    timeout;
    if
    :: crashed
    :: else ->
        assert(handler_over);
        assert(born || silent || refused_by_us); /* the client is not left waiting, but where it said so itself */
        assert(!born || (decided && store == final));
        /* A call that was cancelled made no task that lives (DIR-5), and its handler was told. */
        assert(born || store == stopped || store == failed);
        assert(!silent || handler_told);
        /* Who stopped the task's request has stopped the call, or the task. */
        assert(task != cancelled || !born || store == stopped || store == failed);
        assert(task != cancelled || born || wire == cancelled);
        restarted()
    fi
}
