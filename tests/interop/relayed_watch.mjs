// How the tests of what is relayed look at one call among others on the same connection.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { new_key } from './calls.mjs';

export const request_cancelled = -32800;
export const method_not_found = -32601;
export const long = { ms: 600_000, tick_ms: 20 };

export const always = () => true;
export const rule = (name, when, body) => ({ name, when, body });

export const told_by_server = method => entry => entry.from === 'server' && entry.message?.method === method;

export const progress_of = id => entry => told_by_server('notifications/progress')(entry) && entry.message.params.progressToken === id;

// A call and its answer: on stdio what the client sent before it was read, and what was written before the answer has
// come. The entry of the answer.
export async function fence(c) {
    const text = new_key('fence');
    const { content } = await c.call('echo', { text });
    assert.equal(content[0].text, text);
    return await c.journal.first(`answer to ${text}`, e => e.from === 'server' && e.line.includes(text));
}

// From the moment at which andon has read their cancels there is nothing more of these calls. Up to 2025-11-25 an error
// ends the stream of each over HTTP, which must not hang (HTTP-3).
export async function assert_silence(c, pair, calls, ended) {
    const ends_with_error = pair.over_http && pair.is_legacy;
    const answer_to = ({ id }) => e => e.from === 'server' && e.message?.id === id && e.message.method === undefined;
    const is_end = call => c.journal.first(`end of the stream of ${call.id}`, answer_to(call));
    const since = ends_with_error ? await Promise.all(calls.map(is_end)) : Array(calls.length).fill(await fence(c));
    await ended?.();
    await fence(c);
    await fence(c);
    for (const [i, call] of calls.entries()) {
        const answers = c.journal.entries.filter(answer_to(call)).map(e => e.message.error?.code);
        assert.deepEqual(answers, ends_with_error ? [request_cancelled] : []);
        assert.deepEqual(c.journal.entries.slice(since[i].index + 1).filter(progress_of(call.id)), []);
    }
}

// The cancels with that in them which the server was sent.
export function heard(c, text) {
    return c.marks.entries.filter(e => e.from === 'stderr' && e.line.startsWith('@heard ') && e.line.includes(text));
}

// Waits until the server was sent the cancel with that reason, if that is the way to stop it. Up to 2025-11-25 andon says
// it twice over HTTP where the first one may have overtaken its request, and it is the same one then.
export async function assert_server_heard(c, pair, reason) {
    const is_it = e => e.from === 'stderr' && e.line.startsWith('@heard ') && e.line.includes(reason);
    if (pair.server_hears) await c.marks.first(`cancel because of ${reason}`, is_it);
    const cancels = new Set(heard(c, reason).map(({ line }) => line));
    assert.equal(cancels.size, pair.server_hears ? 1 : 0);
}

export function marked(c, what, key) {
    return c.marks.entries.some(e => e.from === 'stderr' && e.line.startsWith(`@${what} ${key} `));
}

// An orphan that has ended may stay a zombie for as long as its new parent likes.
export function is_running(pid) {
    try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)[0] !== 'Z';
    } catch {
        return false;
    }
}

// There is no event for the processes of others: this looks until it is so, and the limit of the test ends it.
export async function until(condition, signal) {
    while (!condition()) await sleep(5, undefined, { signal });
}

export function next_progress() {
    let onprogress;
    const progressed = new Promise(resolve => (onprogress = resolve));
    return { onprogress, progressed };
}
