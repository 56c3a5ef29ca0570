/*
 * The cancel state: include/andon/core/cancel_state.hpp and src/core/cancel_state.cpp, with the same names and in the
 * same order. Who uses it, and what must hold, is in cancel_scenarios.pml.
 *
 * A thread is a process. An atomic access is one step, and what the code does in two accesses is two steps here. What
 * only ever happens under the lock is one step with the unlock() that follows: nobody can look in between, and `holder`
 * checks that the lock is held. lock() is the one compare-and-swap that succeeds: attempts that fail change nothing.
 * Whoever spins is blocked here until there is something new to see, so a lock that is never given back is a deadlock.
 *
 * Promela has no recursion: below the request hang leaves, which may have callbacks but no children. All states have
 * the role `work`. Memory is sequentially consistent here; the code argues its orderings itself.
 *
 * TREE and CALLBACKS say what can hang below a state; what a scenario does not need is left out.
 * BROKEN_... takes out one piece of the protocol. README.md says what each of these pieces is for.
 */

#define responding    (1 << 0)
#define cancelled_bit (1 << 1)
#define told          (1 << 2)
#define done          (1 << 3)
#define locked        (1 << 4)
#define hung          (1 << 5)
#define cause_shift   8
#define cause_mask    (7 << cause_shift)
#define one_section   (1 << 16)
#define sections_mask (255 << 16)
#define decided       (responding | cancelled_bit | done)

#define has(word, bits) (((word) & (bits)) != 0)
#define cause_in(word)  (((word) & cause_mask) >> cause_shift)

/* Causes. The words and the time that come with a cancel are a number that says whose they are; 0: none. */
#define peer         0
#define timer        1
#define parent       4
#define operator_    5
#define words_of(by) ((by) + 1)

/* Everything that can be linked; a pointer is one of these numbers. A state is a node too. */
#define nullptr           0
#define request           1
#define child             2
#define sibling           3
#define callback_a        4
#define callback_b        5
#define bookmark          6
#define bookmark_two      7
#define is_child(node)    ((node) <= sibling)
#define is_callback(node) ((node) == callback_a || (node) == callback_b)

/* Where a pointer to a node is kept: in the `next` of another node, or in the `first_` of a state. */
#define next(node) (node)
#define first_(s)  (bookmark_two + (s))
byte at[11];
byte link_of[8]; /* `link` in the code: where the pointer to this node is kept */

int word_[4];
byte references_[4];
byte places_[4];
byte parent_[4];
byte reason_[4];
byte asked_[4];
bool awaited[6];
bool finished[6];

typedef delivery {
    byte thread;
    byte running;
    bool exists
}
delivery current[4]; /* on the stack of the thread that delivers */
bool delivery_[4];   /* whether the pointer to it is set */

/* What only the checks know. */
bool alive[8];      /* its memory is there */
byte holder[4];     /* who has the lock */
byte accepted[4];   /* cancels that were told "accepted" */
byte written[4];    /* responses */
byte delivered[4];  /* deliveries begun */
byte runs[6];       /* how often a callback ran */
byte run_by[6];     /* the thread that runs it now */
byte inside;        /* uninterrupted sections that threads are in */

#define this_thread (_pid + 1)

#define undecided         0
#define won_it            1
#define already_cancelled 2
#define too_late          3

/* What every thread has on its stack. `yes` is the answer of what was called last. */
#define locals int word, won; bool yes, last, only; byte verdict, node, leaf, words, found, place

inline touch(id) { assert(alive[id]) }

inline locked_by_me(s) { assert(holder[s] == this_thread) }

/* The rules of the word, in the step that changes it. */
inline change_word(s, to) {
    touch(s);
    assert(!has(to, responding) || !has(to, cancelled_bit));
    assert(!has(to, told) || (has(to, cancelled_bit) && !has(to, sections_mask)));
    assert((word_[s] & (decided | told | hung) & ~(to)) == 0);
    assert(!has(word_[s], cancelled_bit) || cause_in(word_[s]) == cause_in(to));
    if
    :: has(to, locked) && !has(word_[s], locked) -> holder[s] = this_thread
    :: else -> assert(has(to, locked) == has(word_[s], locked))
    fi;
    word_[s] = to
}

inline load(s) { d_step { touch(s); word = word_[s] } }

inline compare_exchange(s, desired) {
    d_step {
        if
        :: word_[s] == word -> change_word(s, desired); yes = true
        :: else -> touch(s); word = word_[s]; yes = false
        fi
    }
}

inline retain(s) { d_step { touch(s); references_[s]++ } }

inline release(s) {
    d_step { touch(s); only = (references_[s] == 1) };
    d_step {
        touch(s);
        references_[s]--;
        if
        :: only || references_[s] == 0 ->
            assert(parent_[s] == nullptr && at[first_(s)] == nullptr && places_[s] == 0);
            alive[s] = false
        :: else
        fi;
        only = false
    }
}

inline why(s) {
    load(s);
    if
    :: has(word, cancelled_bit) -> d_step { touch(s); words = reason_[s] }
    :: else -> words = 0
    fi
}

inline lost_to(seen) {
    if
    :: has(seen, cancelled_bit) -> verdict = already_cancelled
    :: else -> verdict = too_late
    fi
}

inline lock(s, also_set) {
    d_step {
        !has(word_[s], locked) ->
        touch(s);
        holder[s] = this_thread;
        word = word_[s] | locked | (also_set);
        word_[s] = word
    }
}

inline unlock(s) { d_step { touch(s); locked_by_me(s); holder[s] = 0; word_[s] = word_[s] & ~locked } }

inline write_reason(s, said) {
    d_step { touch(s); reason_[s] = said };
    d_step { touch(s); asked_[s] = said }
}

/* cancel(), until it is decided. Where it won it has the lock, and `won` says whether to deliver. */
inline decide_cancel(s, by, said) {
    atomic { verdict = undecided; load(s) };
    do
    :: atomic { has(word, decided) -> lost_to(word); break }
    :: !has(word, decided) && has(word, locked) ->
        d_step { !has(word_[s], locked) || has(word_[s], decided) -> touch(s); word = word_[s] }
    :: atomic {
            !has(word, decided | locked) -> compare_exchange(s, word | locked);
            if :: yes -> break :: else fi
        }
    od;
    if
    :: verdict == undecided ->
#ifndef BROKEN_REASON
        write_reason(s, said);
#endif
        word = word | locked;
        do
        :: has(word, decided) -> /* the response was claimed while we held the lock */
            write_reason(s, 0);
            atomic { unlock(s); lost_to(word); break }
        :: atomic {
                !has(word, decided) -> won = word | cancelled_bit | ((by) << cause_shift);
                if
#ifndef BROKEN_EARLY
                :: has(word, sections_mask)
#endif
                :: else -> won = won | told
                fi;
                compare_exchange(s, won);
                if :: yes -> verdict = won_it; accepted[s]++; break :: else fi
            }
        od
#ifdef BROKEN_REASON
        ; if :: verdict == won_it -> write_reason(s, said) :: else fi
#endif
    :: else
    fi
}

inline cancel(s, by, said) {
    decide_cancel(s, by, said);
    if
    :: verdict == won_it && has(won, told) -> deliver(s)
    :: verdict == won_it && !has(won, told) -> unlock(s) /* whoever leaves the last section delivers */
    :: else
    fi
}

/* Nobody is in a section of a leaf. */
inline cancel_leaf(s, by, said) {
    decide_cancel(s, by, said);
    if :: verdict == won_it -> deliver_leaf(s) :: else fi
}

inline begin_response(s) {
    atomic { yes = false; load(s) };
    do
    :: has(word, decided) -> break
    :: atomic {
            !has(word, decided) ->
#ifdef BROKEN_RESPONSE
            d_step { touch(s); word_[s] = word | responding; yes = true };
#else
            compare_exchange(s, word | responding);
#endif
            if :: yes -> written[s]++; break :: else fi
        }
    od
}

inline begin_delivery(s) {
    d_step {
        locked_by_me(s);
        assert(!current[s].exists);
        delivered[s]++;
        current[s].exists = true;
        current[s].thread = this_thread;
        current[s].running = nullptr;
        delivery_[s] = true
    }
}

inline take_first(s, n) { d_step { locked_by_me(s); n = at[first_(s)]; remove(n) } }

inline deliver_to_callback(s, n) {
    atomic { d_step { locked_by_me(s); current[s].running = n }; unlock(s) };
    run_callback(n);
    lock(s, 0);
    if
    :: current[s].running == nullptr /* it destroyed itself */
    :: d_step { current[s].running != nullptr -> current[s].running = nullptr; touch(n) };
        if
        :: !awaited[n]
        :: d_step { awaited[n] -> touch(n); finished[n] = true };
            touch(n) /* notify_one() */
        fi
    fi
}

inline end_delivery(s) {
    atomic {
#ifndef BROKEN_DELIVERY
        d_step { locked_by_me(s); delivery_[s] = false };
#endif
        unlock(s)
    };
    current[s].exists = false
}

inline deliver_leaf(s) {
    begin_delivery(s);
#ifdef CALLBACKS
    do
    :: at[first_(s)] == nullptr -> break
    :: else ->
        take_first(s, leaf);
        if
        :: is_callback(leaf) -> deliver_to_callback(s, leaf)
        :: else /* a bookmark: its owner sees that it is out */
        fi
    od;
#endif
    end_delivery(s)
}

#ifdef TREE
inline deliver(s) {
    begin_delivery(s);
    do
    :: at[first_(s)] == nullptr -> break
    :: else ->
        take_first(s, node);
        if
        :: is_child(node) ->
            atomic {
#ifndef BROKEN_CHILD
                retain(node);
#endif
                unlock(s)
            };
            cancel_leaf(node, parent, reason_[s]);
#ifndef BROKEN_CHILD
            release(node);
#endif
            lock(s, 0)
        :: else
        fi
    od;
    end_delivery(s)
}
#else
inline deliver(s) { deliver_leaf(s) }
#endif

inline set_done(s) { d_step { word = word_[s]; change_word(s, word | done); assert(!has(word, done)) } }

/* Of the request, which has no parent. */
inline end(s) {
    set_done(s);
#if defined(CALLBACKS) || defined(TREE)
    if
    :: has(word, hung) -> why(s); cancel_children(s, parent, words, bookmark)
    :: else
    fi
#endif
}

/* Of a leaf, which has no children. How cancel_children() goes past callbacks is seen at the request. */
inline end_leaf(s) {
    set_done(s);
    if
    :: parent_[s] != nullptr ->
        lock(parent_[s], 0);
        d_step {
            locked_by_me(parent_[s]);
            if
#ifndef BROKEN_END
            :: link_of[s] != nullptr -> remove(s)
#endif
            :: else
            fi
        };
        leave_place_and_unlock(parent_[s]);
        parent_[s] = nullptr
    :: else
    fi
}

/* `most`, and the place that does not hang, are left out: they are numbers under the lock. */
inline hang_below(s, above) {
#ifdef BROKEN_HUNG
    lock(above, 0);
    d_step { change_word(above, word_[above] | hung) };
#else
    lock(above, hung);
#endif
    if
    :: atomic { has(word, told | done) -> unlock(above) };
        why(above);
        cancel_leaf(s, parent, words)
    :: !has(word, told | done) ->
        take_place_locked(above);
        atomic { d_step { locked_by_me(above); insert(s, first_(above)); parent_[s] = above }; unlock(above) }
    fi
}

inline take_place_locked(s) {
    d_step {
        locked_by_me(s);
        places_[s]++;
        if :: places_[s] == 1 -> touch(s); references_[s]++ :: else fi
    }
}

inline leave_place_and_unlock(s) {
    atomic { d_step { locked_by_me(s); places_[s]--; last = (places_[s] == 0) }; unlock(s) };
#ifdef BROKEN_PLACE
    last = (places_[s] == 0);
#endif
    if :: last -> release(s) :: else fi
}

/* The code looks at 32 entries at once; here it is one, so that two children show what the bookmark is for. The price:
 * two bookmarks can overtake each other for ever here, which takes 33 of them, in step, in the code. */
inline look_behind(mark) {
    found = nullptr;
    place = next(mark);
    if
    :: at[place] != nullptr ->
        if :: is_child(at[place]) -> found = at[place]; touch(found); references_[found]++ :: else fi;
        place = next(at[place])
    :: else
    fi;
    last = (at[place] == nullptr);
    remove(mark);
    if :: !last -> insert(mark, place) :: else fi
}

inline cancel_children(s, by, said, mark) {
    atomic { lock(s, 0); alive[mark] = true; insert(mark, first_(s)) };
    do
#ifndef BROKEN_BOOKMARK
    :: link_of[mark] == nullptr -> break /* a delivery has taken over, and serves them all */
    :: atomic { link_of[mark] != nullptr -> d_step { locked_by_me(s); look_behind(mark) }; unlock(s) };
#else
    :: atomic { d_step { locked_by_me(s); look_behind(mark) }; unlock(s) };
#endif
#ifdef TREE
        if :: found != nullptr -> cancel_leaf(found, by, said); release(found) :: else fi;
#endif
        lock(s, 0);
        if :: last -> break :: else fi
    od;
    atomic { unlock(s); alive[mark] = false }
}

inline enter_section(s) {
    atomic { yes = false; load(s) };
    do
    :: has(word, told) -> break
    :: atomic {
            !has(word, told) -> compare_exchange(s, word + one_section);
            if :: yes -> inside++; break :: else fi
        }
    od
}

#define deliver_now(word) (has(word, cancelled_bit) && ((word) & sections_mask) == one_section)
#ifdef BROKEN_LEAVE
#define has_to_wait(word) false
#else
#define has_to_wait(word) (deliver_now(word) && has(word, locked))
#endif

inline leave_section(s) {
    atomic { inside--; load(s) };
    do
    :: has_to_wait(word) -> d_step { !has_to_wait(word_[s]) -> touch(s); word = word_[s] }
    :: atomic {
            !has_to_wait(word) -> won = word - one_section;
            if
#ifndef BROKEN_SECTION
            :: deliver_now(word) -> won = won | told | locked
#endif
            :: else
            fi;
            compare_exchange(s, won);
            if :: yes -> break :: else fi
        }
    od;
    if :: has(won, told) -> deliver(s) :: else fi
}

inline add_callback(s, n) {
#ifdef BROKEN_ADD
    load(s);
    yes = !has(word, told);
    lock(s, hung);
#else
    atomic { lock(s, hung); yes = !has(word, told) };
#endif
    atomic {
        if :: yes -> d_step { locked_by_me(s); insert(n, first_(s)) } :: else fi;
        unlock(s)
    }
}

#define is_running(s, n) (link_of[n] == nullptr && delivery_[s] && current[s].running == n)
#ifdef BROKEN_THREAD
#define by_me(s) false
#else
#define by_me(s) (current[s].thread == this_thread)
#endif

inline remove_callback(s, n) {
    lock(s, 0);
    assert(!delivery_[s] || current[s].exists);
    if
    :: atomic { link_of[n] != nullptr -> d_step { locked_by_me(s); remove(n) }; unlock(s) }
    :: atomic { link_of[n] == nullptr && !is_running(s, n) -> unlock(s) }
    :: atomic {
            is_running(s, n) && by_me(s) ->
#ifndef BROKEN_SELF
            d_step { locked_by_me(s); current[s].running = nullptr };
#endif
            unlock(s)
        }
#ifdef BROKEN_REMOVE
    :: atomic { is_running(s, n) && !by_me(s) -> unlock(s) }
#else
    :: atomic { is_running(s, n) && !by_me(s) -> d_step { locked_by_me(s); awaited[n] = true }; unlock(s) };
        finished[n] -> touch(n);
#ifndef BROKEN_AWAIT
        lock(s, 0);
        unlock(s)
#endif
#endif
    fi
}

/* Pointer by pointer; part of a step. */
inline insert(n, where) {
    touch(n);
    at[next(n)] = at[where];
    link_of[n] = where;
    if :: at[next(n)] != nullptr -> touch(at[next(n)]); link_of[at[next(n)]] = next(n) :: else fi;
    at[where] = n
}

inline remove(n) {
    touch(n);
    assert(link_of[n] > bookmark_two || alive[link_of[n]]);
    at[link_of[n]] = at[next(n)];
    if :: at[next(n)] != nullptr -> touch(at[next(n)]); link_of[at[next(n)]] = link_of[n] :: else fi;
    at[next(n)] = nullptr;
    link_of[n] = nullptr
}
