/*
 * The grace period: src/core/grace_period.hpp, with the same names.
 *
 * Each atomic access is one step. In particular a reader may stop for as long as it likes between reading the epoch and
 * counting itself in, and try_advance() looks at one stripe after the other. One thing is linked: the writer unlinks it
 * and frees it, readers look for it and use it, and everybody moves the epoch on.
 *
 * What must hold: nobody uses what has been freed. With QUIET the writer asks quiet() instead of the epoch. GRACE=2
 * shows that two epochs are not enough, BROKEN_... what else each piece is for.
 */

#ifndef GRACE
#define GRACE 3
#endif
#ifndef last_epoch
#define last_epoch 5 /* where everybody stops */
#endif

#define stripe_count 2

byte epoch_;
typedef stripe { byte readers[2] }
stripe stripes_[stripe_count];

bool linked = true;
bool freed;

#define counter(stripe, parity) stripes_[stripe].readers[parity]

/* One counter a step; gives up at the first reader. */
inline try_advance() {
    now = epoch_;
    do
    :: d_step { each < stripe_count && counter(each, (now + 1) % 2) == 0 -> each++ }
    :: each < stripe_count && counter(each, (now + 1) % 2) != 0 -> break
    :: atomic {
            each == stripe_count ->
            if
#ifndef BROKEN_ADVANCE
            :: epoch_ != now
#endif
            :: else -> epoch_ = now + 1
            fi;
            break
        }
    od;
    now = 0;
    each = 0
}

/* Says yes in `each`: all counters were seen empty. */
#ifdef BROKEN_QUIET
#define counters stripe_count
#define seen(n) counter(n, epoch_ % 2)
#else
#define counters (2 * stripe_count)
#define seen(n) counter((n) / 2, (n) % 2)
#endif

inline quiet() {
    each = 0;
    do
    :: d_step { each < counters && seen(each) == 0 -> each++ }
    :: each < counters && seen(each) != 0 -> break
    :: each == counters -> break
    od
}

proctype reader(byte my_stripe) {
    byte counted;
    counted = epoch_ % 2;
    stripes_[my_stripe].readers[counted]++;
    if
    :: linked -> assert(!freed) /* used at some later time */
    :: else
    fi;
    stripes_[my_stripe].readers[counted]--;
    counted = 0
}

proctype advancer() {
    byte now, each;
    do
    :: epoch_ < last_epoch -> try_advance()
    :: else -> break
    od
}

proctype writer() {
    byte now, each, unlinked;
#ifdef BROKEN_UNLINK
    unlinked = epoch_;
    linked = false;
#else
    linked = false;
    unlinked = epoch_;
#endif
    do
#ifdef QUIET
    :: quiet();
        if :: each == counters -> freed = true; break :: else fi
#else
    :: epoch_ >= unlinked + GRACE -> freed = true; break
    :: epoch_ < unlinked + GRACE && epoch_ < last_epoch -> try_advance()
    :: epoch_ < unlinked + GRACE && epoch_ >= last_epoch -> break
#endif
    od;
    unlinked = 0;
    each = 0
}

init {
    atomic {
        run reader(0);
        run reader(1);
        run advancer();
        run advancer();
        run writer()
    }
}
