/*
 * Who uses the cancel state, and what must hold. Each scenario is a search of its own:
 *
 *     RESPONSE   two cancels, a response, and somebody who looks at the cause and the words
 *     SECTION    two cancels of work inside two uninterrupted sections, with a callback
 *     CALLBACK   a callback comes and goes while a cancel, a section and a response are under way
 *     SELF       a callback that destroys itself, or is destroyed while it runs; two cancels and a response
 *     OTHER      a callback that destroys another one of the same state
 *     ELSEWHERE  a callback that destroys one of another state, which may be running on another thread
 *     CHILD      a child comes, has a callback, is cancelled, responds and ends; its parent is cancelled and ends
 *     CHILDREN   two children come and end while their parent is cancelled and ends
 *     SWEEP      all that hangs below is cancelled three times at once: cancel(), end() and cancel_children()
 *
 * What must hold is in change_word() for every change of a word, in touch() for every use of memory, in the assertions
 * of the threads here, and in everything_is_over(). That nobody waits for ever is checked by the search itself.
 */

#if defined(CHILD) || defined(CHILDREN) || defined(SWEEP)
#define TREE
#endif
#if !defined(RESPONSE) && !defined(CHILDREN) && !defined(SWEEP)
#define CALLBACKS
#endif

#include "cancel_state.pml"

bool tried;          /* begin_response() was called for the request */
bool constructed[6];
bool taken[6];       /* a registration is in a slot; whoever takes it out destroys it */

/* The user's function. It is running from the first of these steps to the last. */
inline run_callback(n) {
    d_step { touch(n); assert(runs[n] == 0 && inside == 0); runs[n]++; run_by[n] = this_thread };
#ifdef SELF
    destroy(request, callback_a);
#endif
#ifdef OTHER
    if :: n == callback_a -> destroy(request, callback_b) :: else fi;
#endif
#ifdef ELSEWHERE
    if :: n == callback_a -> destroy(child, callback_b) :: else fi;
#endif
    run_by[n] = 0
}

/* A cancel_callback: it holds a reference to the state, and runs its function itself if it comes too late. */
inline construct(s, n) {
    atomic { alive[n] = true; retain(s) };
    add_callback(s, n);
    if :: yes :: else -> run_callback(n) fi;
    constructed[n] = true
}

/* Nothing happens where it is not constructed yet, or somebody else destroys it. */
inline destroy(s, n) {
    d_step { yes = constructed[n] && !taken[n]; taken[n] = taken[n] || yes };
    if
    :: yes ->
        remove_callback(s, n);
        d_step { touch(n); assert(run_by[n] == 0 || run_by[n] == this_thread); alive[n] = false };
        release(s)
    :: else
    fi
}

inline work_in_section(s) {
    enter_section(s);
    if :: yes -> load(s); assert(!has(word, told)); leave_section(s) :: else fi
}

/* The last thing that a thread does. What it remembers would only make states differ that are the same. */
inline let_go(s) {
    d_step {
        word = 0; won = 0; yes = 0; last = 0;
        verdict = 0; node = 0; leaf = 0; words = 0; found = 0; place = 0
    };
    release(s)
}

/* ---- the threads; each has a reference to what it works with ---- */

proctype canceller(byte by) {
    locals;
    cancel(request, by, words_of(by));
    let_go(request)
}

#if defined(ELSEWHERE) || defined(CHILD)
proctype canceller_below(byte by) {
    locals;
    cancel_leaf(child, by, words_of(by));
    let_go(child)
}
#endif

#ifndef ELSEWHERE
/* Owns the request and works on it. */
proctype handler() {
    locals;
#if defined(SECTION) || defined(CALLBACK)
    work_in_section(request);
#endif
#if !defined(CHILDREN) && !defined(SWEEP)
    if
    :: tried = true; begin_response(request)
    :: skip /* it fails and says nothing */
    fi;
#endif
    end(request);
    let_go(request)
}
#endif

#ifdef SECTION
proctype second_worker() {
    locals;
    work_in_section(request);
    let_go(request)
}
#endif

#ifdef RESPONSE
/* What is seen of a cancel is whole, and final. */
proctype watcher() {
    locals;
    why(request);
    if
    :: has(word, cancelled_bit) ->
        assert(words == words_of(cause_in(word)) && words == asked_[request]);
        why(request);
        assert(words == words_of(cause_in(word)) && words == asked_[request])
    :: else
    fi;
    let_go(request)
}
#endif

#if defined(CALLBACK) || defined(SELF) || defined(OTHER) || defined(ELSEWHERE)
proctype registrar() {
    locals;
#ifdef OTHER
    if :: construct(request, callback_b) :: skip fi;
#endif
    construct(request, callback_a);
#ifdef OTHER
    if :: constructed[callback_b] :: else -> construct(request, callback_b) fi;
#endif
    if
    :: destroy(request, callback_a)
    :: skip /* it stays until the end */
    fi;
    let_go(request)
}
#endif

#ifdef ELSEWHERE
/* The child is work of its own here. */
proctype registrar_below() {
    locals;
    construct(child, callback_b);
    let_go(child)
}
#endif

#if defined(CHILD) || defined(CHILDREN)
/* Owns work below the request. */
proctype owner(byte s) {
    locals;
    hang_below(s, request);
    release(request);
#ifdef CHILD
    construct(s, callback_b);
#endif
    if
#ifdef CHILD
    :: begin_response(s)
#else
    :: skip
#endif
    :: true -> has(word_[s], told) /* waits for the cancel, which has to come */
    fi;
#ifdef CHILD
    destroy(s, callback_b);
#endif
    end_leaf(s);
    let_go(s)
}
#endif

#ifdef SWEEP
/* Cancels what hangs below and leaves the request as it is, as cancel_session() does. */
proctype sweeper() {
    locals;
    cancel_children(request, operator_, words_of(operator_), bookmark_two);
    let_go(request)
}
#endif

/* Of a registration that is still there: it has run if there was a cancel. */
inline nobody_was_forgotten(s, n) {
    assert(taken[n] || runs[n] == has(word_[s], told));
    assert(runs[n] == 0 || has(word_[s], told));
    destroy(s, n)
}

inline everything_is_over(s) {
    assert(!has(word_[s], locked | sections_mask));
    assert(written[s] == has(word_[s], responding));
    assert(accepted[s] == has(word_[s], cancelled_bit));
    /* What was accepted has taken effect, once. */
    assert(delivered[s] == accepted[s] && has(word_[s], told) == has(word_[s], cancelled_bit));
    /* The words are those of whoever was first. */
    if
    :: !has(word_[s], cancelled_bit) -> assert(reason_[s] == 0)
    :: else ->
        if
        :: cause_in(word_[s]) == parent -> assert(reason_[s] == reason_[request])
        :: else -> assert(reason_[s] == words_of(cause_in(word_[s])))
        fi
    fi;
    assert(asked_[s] == reason_[s]);
    /* Nothing leaks. */
    assert(!alive[s])
}

#define make(s, count) references_[s] = count; alive[s] = true

init {
    locals;
    atomic {
#ifdef RESPONSE
        make(request, 4);
        run canceller(peer);
        run canceller(timer);
        run handler();
        run watcher();
#endif
#ifdef SECTION
        make(request, 4);
        construct(request, callback_a);
        run canceller(peer);
        run canceller(timer);
        run handler();
        run second_worker();
#endif
#ifdef SELF
        make(request, 4);
        run canceller(peer);
        run canceller(timer);
        run handler();
        run registrar();
#endif
#if defined(CALLBACK) || defined(OTHER)
        make(request, 3);
        run canceller(peer);
        run handler();
        run registrar();
#endif
#ifdef ELSEWHERE
        make(request, 2);
        make(child, 2);
        run canceller(peer);
        run canceller_below(timer);
        run registrar();
        run registrar_below();
#endif
#ifdef CHILD
        make(request, 3);
        make(child, 2);
        run canceller(peer);
        run canceller_below(timer);
        run handler();
        run owner(child);
#endif
#ifdef CHILDREN
        make(request, 4);
        make(child, 1);
        make(sibling, 1);
        run canceller(peer);
        run handler();
        run owner(child);
        run owner(sibling);
#endif
#ifdef SWEEP
        make(request, 3);
        make(child, 1);
        make(sibling, 1);
        hang_below(child, request);
        hang_below(sibling, request);
        run canceller(peer);
        run handler();
        run sweeper();
#endif
    };
    _nr_pr == 1 ->
#if defined(CALLBACKS) && !defined(CHILD)
    nobody_was_forgotten(request, callback_a);
#endif
#ifdef OTHER
    nobody_was_forgotten(request, callback_b);
#endif
#ifdef ELSEWHERE
    nobody_was_forgotten(child, callback_b);
#endif
#ifdef SWEEP
    assert(accepted[child] == 1 && accepted[sibling] == 1);
    end_leaf(child);
    end_leaf(sibling);
    release(child);
    release(sibling);
#endif
    assert(!tried || written[request] + accepted[request] == 1);
    everything_is_over(request);
    everything_is_over(child);
    everything_is_over(sibling)
}
