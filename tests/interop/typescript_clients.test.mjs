// Clients in the official TypeScript SDKs cancel, abort and time out against our server. ANDON_SERVER names another
// server command (split at spaces).
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as v1 from '../../peers/typescript/v1_client.mjs';
import * as v2 from '../../peers/typescript/v2_client.mjs';
import { cancels_of, new_key, started } from './calls.mjs';
import { StdioConnection } from './connection.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const command = (process.env.ANDON_SERVER ?? `${root}build/bin/everything_server`).split(' ');
const limit = { timeout: 30_000 };
const long = { ms: 600_000, tick_ms: 20 };
const newest_legacy = '2025-11-25';
const modern = '2026-07-28';

// A client whose transport is not exactly the SDK's probes the era on its one process, and not on another one first.
class InPlaceTransport extends v2.StdioClientTransport {}

const clients = [
    { name: 'v1', sdk: v1, revision: newest_legacy },
    { name: 'v2, legacy', sdk: v2, revision: newest_legacy },
    { name: 'v2, negotiating', sdk: v2, revision: modern, options: { versionNegotiation: { mode: 'auto' } } }
];
const other_ways_to_connect = [
    { name: 'v2, pinned', revision: modern, options: { versionNegotiation: { mode: { pin: modern } } } },
    {
        name: 'v2, negotiating in place',
        revision: modern,
        options: { versionNegotiation: { mode: 'auto' }, Transport: InPlaceTransport }
    },
    ...['2025-06-18', '2025-03-26', '2024-11-05'].map(revision => ({
        name: `v2, ${revision}`,
        revision,
        options: { supportedProtocolVersions: [revision] }
    }))
].map(way => ({ sdk: v2, ...way }));

function connection(t, { sdk, options }, more) {
    const c = new StdioConnection(sdk, { command, ...options, ...more });
    t.after(async () => {
        await c.close();
        assert.deepEqual(c.unreadable(), []);
    });
    return c;
}

async function connect(t, client, more) {
    const c = connection(t, client, more);
    await c.open();
    return c;
}

// From the moment at which the server has read the cancels it writes nothing for the requests. Before that moment
// progress and log messages may still be on their way, and after it the server may cancel what the requests had asked for.
async function assert_silence(c, ids, ended) {
    const cancels_were_read = await c.fence();
    await ended?.();
    await c.fence();
    await c.fence();
    assert.deepEqual(c.written_since(cancels_were_read), []);
    const first_cancel = c.journal.entries.find(e => e.from === 'client' && ids.includes(e.message.params?.requestId));
    const lines = first_cancel ? c.written_since(first_cancel) : [];
    assert.deepEqual(lines.filter(line => !/"notifications\/(progress|message|cancelled)"/.test(line)), []);
    assert.deepEqual(ids.flatMap(id => c.answers_to(id)), []);
}

async function aborts(c, tool, args, options) {
    const call = await started(c, tool, args, options);
    call.abort('the user pressed Stop');
    await assert.rejects(call.result);
    await c.mark('cancel', call.key);
    assert.equal(cancels_of(c, call.id)[0].params.reason, 'the user pressed Stop');
    await assert_silence(c, [call.id]);
}

const from_server = method => entry => entry.from === 'server' && entry.message?.method === method;

function revision_on_the_wire(c) {
    const initialized = c.journal.entries.find(e => e.from === 'server' && e.message?.result?.protocolVersion);
    if (initialized) return initialized.message.result.protocolVersion;
    return c.sent('tools/call')[0].params._meta['io.modelcontextprotocol/protocolVersion'];
}

async function speaks_its_revision(t, client) {
    const c = await connect(t, client);
    const { tools } = await c.client.listTools();
    const names = tools.map(tool => tool.name);
    for (const name of ['echo', 'wait', 'wait_ignore', 'park', 'spin', 'block', 'ask']) assert.ok(names.includes(name), name);
    const { content } = await c.call('echo', { text: 'Grüße, 世界' });
    assert.equal(content[0].text, 'Grüße, 世界');
    assert.equal(revision_on_the_wire(c), client.revision);
}

async function leaves_when_closed(c) {
    const begun = performance.now();
    const closed = c.close(); // sends SIGTERM to a server that is still there after two seconds
    const { code, signal } = await c.exit();
    const took = performance.now() - begun;
    await closed;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
    assert.ok(took < 1000, `the server took ${took} ms to leave`);
}

function descendants(pid) {
    const children = readdirSync('/proc')
        .filter(name => /^\d+$/.test(name))
        .filter(name => stat_of(name)?.parent === pid)
        .map(Number);
    return children.flatMap(child => [child, ...descendants(child)]);
}

function stat_of(pid) {
    try {
        const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
        return { state, parent: Number(parent) };
    } catch {
        return undefined; // it has ended
    }
}

// An orphan that has ended may stay a zombie for as long as its new parent likes.
function is_running(pid) {
    return !['Z', undefined].includes(stat_of(pid)?.state);
}

// There is no event for the processes of others: this looks until it is so, and the limit of the test ends it.
async function until(condition, signal) {
    while (!condition()) await sleep(5, undefined, { signal });
}

for (const client of clients) {
    describe(client.name, () => {
        const is_legacy = client.revision !== modern;
        const rule = (name, body, options) => it(name, { ...limit, ...options }, body);

        rule('connects, lists the tools and calls one', t => speaks_its_revision(t, client));

        rule('RCV-1 RCV-4: abort of a wait that sends progress', async t => {
            const c = await connect(t, client);
            let progressed;
            const progress = new Promise(resolve => (progressed = resolve));
            const call = await started(c, 'wait', long, { onprogress: progressed });
            assert.ok((await progress).progress > 0);
            call.abort('the user pressed Stop');
            await assert.rejects(call.result);
            await c.mark('cancel', call.key);
            assert.equal(cancels_of(c, call.id)[0].params.reason, 'the user pressed Stop');
            await assert_silence(c, [call.id]);
        });

        rule('RCV-1 RCV-4: abort of a wait that was not asked for progress', async t => {
            await aborts(await connect(t, client), 'wait', long);
        });

        rule('RCV-1: abort of a call that only waits', async t => {
            await aborts(await connect(t, client), 'park', {});
        });

        rule('RCV-1: abort of a CPU loop that polls', async t => {
            await aborts(await connect(t, client), 'spin', { ms: long.ms });
        });

        rule('RCV-12: abort of a call that started processes', async t => {
            const c = await connect(t, client);
            const { tools } = await c.client.listTools();
            if (!tools.some(({ name }) => name === 'child')) return t.skip('the server has no child tool');
            const call = await started(c, 'child', { seconds: 600 });
            let tree = [];
            await until(() => (tree = descendants(c.pid)).length >= 3, t.signal);
            call.abort();
            await assert.rejects(call.result);
            await c.mark('cancel', call.key);
            await until(() => descendants(c.pid).length === 0 && !tree.some(is_running), t.signal);
            await assert_silence(c, [call.id]);
        });

        rule('RCV-4: a handler that goes on sending after the abort is not heard', async t => {
            const c = await connect(t, client);
            let progressed;
            const progress = new Promise(resolve => (progressed = resolve));
            const call = await started(c, 'wait_ignore', { ms: 500, tick_ms: 5 }, { onprogress: progressed });
            await progress;
            call.abort();
            await assert.rejects(call.result);
            await assert_silence(c, [call.id], () => c.mark('end', call.key));
        });

        rule('RCV-4: a handler that blocks holds up nobody, and its result is not heard', async t => {
            const c = await connect(t, client);
            const call = await started(c, 'block', { ms: 1000 });
            call.abort();
            await assert.rejects(call.result);
            const answered = await c.fence();
            const end = await c.mark('end', call.key);
            assert.ok(answered.ns < BigInt(end.line.split(' ')[2]), 'the echo waited for the blocked handler');
            await assert_silence(c, [call.id]);
        });

        rule('TIME-2: a timeout of the client reaches the handler', async t => {
            const c = await connect(t, client);
            await c.fence(); // under 2026-07-28 a client is connected before its server has started
            const call = await started(c, 'wait', long, { timeout: 500, onprogress: () => {} });
            await assert.rejects(call.result, /timed out/);
            await c.mark('cancel', call.key);
            await assert_silence(c, [call.id]);
        });

        rule('TIME-3: progress holds off the timeout, and the result arrives', async t => {
            const c = await connect(t, client);
            await c.fence(); // under 2026-07-28 a client is connected before its server has started
            const seen = [];
            const call = await started(c, 'wait', { ms: 1500, tick_ms: 50 }, {
                timeout: 700,
                resetTimeoutOnProgress: true,
                onprogress: ({ progress }) => seen.push(progress)
            });
            assert.equal((await call.result).content[0].type, 'text');
            assert.ok(seen.length >= 3, `progress came ${seen.length} times`);
            assert.ok(seen.every((progress, i) => i === 0 || progress > seen[i - 1]), `not increasing: ${seen}`);
            assert.deepEqual(cancels_of(c, call.id), []);
        });

        rule('RCV-1 RCV-3: the cancel follows its request at once, a hundred times', async t => {
            const c = await connect(t, client);
            const ids = [];
            for (let i = 0; i < 100; i++) {
                const controller = new AbortController();
                const send = c.transport.send;
                c.transport.send = (message, ...more) => {
                    c.transport.send = send;
                    const sent = send(message, ...more);
                    ids.push(message.id);
                    controller.abort();
                    return sent;
                };
                await assert.rejects(c.call('park', { key: new_key('park') }, { signal: controller.signal }));
            }
            assert.equal(c.sent('notifications/cancelled').length, ids.length);
            await assert_silence(c, ids);
        });

        rule('RCV-5: a cancel of a request that was answered is ignored', async t => {
            const c = await connect(t, client);
            const controller = new AbortController();
            await c.call('echo', { text: 'done' }, { signal: controller.signal });
            const { message } = c.journal.entries.findLast(e => e.from === 'client');
            controller.abort(); // v1 sends the notification even so
            await c.client.notification({ method: 'notifications/cancelled', params: { requestId: message.id } });
            const before = await c.fence();
            await c.fence();
            assert.deepEqual(c.written_since(before), []);
            assert.equal(c.answers_to(message.id).length, 1);
        });

        rule('RCV-1 RCV-2: 200 parked calls, all aborted', async t => {
            const c = await connect(t, client);
            const calls = await Promise.all(Array.from({ length: 200 }, () => started(c, 'park', {})));
            for (const call of calls) call.abort();
            await Promise.all(calls.map(call => assert.rejects(call.result)));
            await Promise.all(calls.map(call => c.mark('cancel', call.key)));
            await assert_silence(c, calls.map(call => call.id));
        });

        rule('a tool asks the client for sampling and gets it', async t => {
            const answer = { role: 'assistant', content: { type: 'text', text: 'vermilion' }, model: 'test' };
            const c = await connect(t, client, { sample: async () => answer });
            const { content } = await c.call('ask', { key: new_key('ask') });
            assert.match(content[0].text, /vermilion/);
        });

        rule('RCV-12: abort of a call cancels the sampling that it asked for', async t => {
            let asked, stopped;
            const sampling = new Promise(resolve => (asked = resolve));
            const sampling_stopped = new Promise(resolve => (stopped = resolve));
            const sample = (_, signal) => {
                asked();
                return new Promise((_, reject) => {
                    signal.addEventListener('abort', () => {
                        stopped();
                        reject(signal.reason);
                    });
                });
            };
            const c = await connect(t, client, { sample });
            const call = await started(c, 'ask', {});
            await sampling;
            call.abort();
            await assert.rejects(call.result);
            if (is_legacy) {
                await c.mark('cancel', call.key);
                const nested = await c.journal.first('sampling', from_server('sampling/createMessage'));
                const cancel = await c.journal.first('cancel of the sampling', from_server('notifications/cancelled'));
                assert.equal(cancel.message.params.requestId, nested.message.id);
                if (client.sdk === v1) assert.notEqual(nested.message.id, 0, 'the v1 SDK does not hear a cancel of id 0');
            } // under 2026-07-28 the call has been answered by then, and the client stops its own sampling
            await sampling_stopped;
            await assert_silence(c, is_legacy ? [call.id] : []);
        });

        rule('closing the client ends the server', async t => {
            const c = await connect(t, client);
            await c.fence();
            await leaves_when_closed(c);
        });

        rule('closing the client ends a server that has calls in flight', async t => {
            const c = await connect(t, client);
            await started(c, 'wait', long);
            await started(c, 'park', {});
            await started(c, 'spin', { ms: long.ms });
            await leaves_when_closed(c);
        });
    });
}

for (const client of other_ways_to_connect) {
    describe(client.name, () => {
        it('connects, lists the tools and calls one', limit, t => speaks_its_revision(t, client));
        it('RCV-1 RCV-4: abort of a call', limit, async t => {
            await aborts(await connect(t, client), 'wait', long, { onprogress: () => {} });
        });
    });
}

describe('v1', () => {
    it('DIR-4: a client that gives up in initialize sends a cancel for it, which is ignored', limit, async t => {
        const c = connection(t, clients[0]);
        const controller = new AbortController();
        const send = c.transport.send;
        c.transport.send = (message, ...more) => {
            c.transport.send = send;
            const sent = send(message, ...more);
            controller.abort();
            return sent;
        };
        await assert.rejects(c.open({ signal: controller.signal }));
        assert.deepEqual(cancels_of(c, 0).length, 1);
        const { code, signal } = await c.exit(); // the client has closed the connection
        assert.deepEqual({ code, signal }, { code: 0, signal: null });
    });
});
