// Clients in the official TypeScript SDKs against our server over Streamable HTTP, in both eras. ANDON_SERVER names
// another server command (split at spaces) that takes `--http 0` and says where it listens.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v1 from '../../peers/typescript/v1_client.mjs';
import * as v2 from '../../peers/typescript/v2_client.mjs';
import { cancels_of, new_key, started } from './calls.mjs';
import { HttpConnection, HttpServer } from './connection.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const command = (process.env.ANDON_SERVER ?? `${root}build/bin/everything_server`).split(' ');
const limit = { timeout: 30_000 };
const long = { ms: 600_000, tick_ms: 20 };
const modern = '2026-07-28';
const request_cancelled = -32800;

const clients = [
    { name: 'v1', sdk: v1, revision: '2025-11-25' },
    { name: 'v2, legacy', sdk: v2, revision: '2025-11-25' },
    { name: 'v2, 2025-03-26', sdk: v2, revision: '2025-03-26', options: { supportedProtocolVersions: ['2025-03-26'] } },
    { name: 'v2, negotiating', sdk: v2, revision: modern, options: { versionNegotiation: { mode: 'auto' } } },
    { name: 'v2, pinned', sdk: v2, revision: modern, options: { versionNegotiation: { mode: { pin: modern } } } }
];

async function serve(t, ...flags) {
    const server = new HttpServer(command, ...flags);
    t.after(async () => assert.deepEqual(await server.stop(), { code: 0, signal: null }));
    return { server, url: await server.url() };
}

async function connect(t, served, { sdk, options }, more) {
    const c = new HttpConnection(sdk, { ...served, ...options, ...more });
    await c.client.connect(c.transport);
    t.after(() => c.close());
    return c;
}

const progress_of = call => entry =>
    entry.from === 'server' &&
    entry.message?.method === 'notifications/progress' &&
    entry.message.params.progressToken === call.id;

// Nothing comes for the call once its handler was told: no progress and no answer. Up to 2025-11-25 an error ends its
// stream, which must not hang (HTTP-3), and behind that there is nothing.
async function assert_silence(c, call, is_legacy) {
    const ended = e => e.from === 'server' && e.message?.id === call.id && e.message.method === undefined;
    if (is_legacy) await c.journal.first('end of the stream', ended);
    const mark = await c.mark('cancel', call.key);
    await c.fence();
    await c.fence();
    const ends = c.journal.entries.filter(ended);
    assert.deepEqual(ends.map(e => e.message.error?.code), is_legacy ? [request_cancelled] : []);
    const since = is_legacy ? ends[0] : mark;
    // What the kernel held already may be read a moment after the mark, which comes by another way.
    const late = c.journal.entries.slice(since.index + 1).filter(progress_of(call));
    assert.ok(late.length <= (is_legacy ? 0 : 1), `${late.length} messages after the cancel`);
}

for (const client of clients) {
    describe(`HTTP, ${client.name}`, () => {
        const is_legacy = client.revision !== modern;
        const rule = (name, body) => it(name, limit, body);

        rule('connects, lists the tools and calls one', async t => {
            const c = await connect(t, await serve(t), client);
            const { tools } = await c.client.listTools();
            assert.ok(tools.some(({ name }) => name === 'wait'));
            const { content } = await c.call('echo', { text: 'Grüße, 世界' });
            assert.equal(content[0].text, 'Grüße, 世界');
            const initialized = c.journal.entries.find(e => e.from === 'server' && e.message?.result?.protocolVersion);
            assert.equal(initialized?.message.result.protocolVersion ?? modern, client.revision);
            assert.equal(c.transport.sessionId !== undefined, is_legacy);
        });

        rule('progress arrives while the call runs, and then the result', async t => {
            const c = await connect(t, await serve(t), client);
            const seen = [];
            const call = await started(c, 'wait', { ms: 300, tick_ms: 20 }, { onprogress: p => seen.push(p.progress) });
            const { content } = await call.result;
            assert.equal(content[0].text, 'waited 300 ms');
            assert.ok(seen.length >= 3, `progress came ${seen.length} times`);
            assert.ok(seen.every((progress, i) => i === 0 || progress > seen[i - 1]), `not increasing: ${seen}`);
        });

        rule('SND-4 SND-5 HTTP-1 HTTP-3: abort of a call that sends progress', async t => {
            const c = await connect(t, await serve(t), client);
            let progressed;
            const progress = new Promise(resolve => (progressed = resolve));
            const call = await started(c, 'wait', long, { onprogress: progressed });
            await progress;
            call.abort('the user pressed Stop');
            await assert.rejects(call.result);
            await assert_silence(c, call, is_legacy);
            assert.deepEqual(cancels_of(c, call.id).map(({ params }) => params.reason), is_legacy ? ['the user pressed Stop'] : []);
        });

        rule('HTTP-1 HTTP-3: abort of a call that said nothing yet', async t => {
            const c = await connect(t, await serve(t), client);
            const call = await started(c, 'park', {});
            call.abort();
            await assert.rejects(call.result);
            await assert_silence(c, call, is_legacy);
        });

        rule('RCV-4: a handler that goes on sending after the abort is not heard', async t => {
            const c = await connect(t, await serve(t), client);
            let progressed;
            const progress = new Promise(resolve => (progressed = resolve));
            const call = await started(c, 'wait_ignore', { ms: 500, tick_ms: 5 }, { onprogress: progressed });
            await progress;
            call.abort();
            await assert.rejects(call.result);
            await c.fence();
            const before = c.journal.entries.at(-1);
            await c.mark('end', call.key);
            await c.fence();
            const late = c.journal.entries.slice(before.index + 1).filter(progress_of(call));
            assert.ok(late.length <= 1, `${late.length} messages after the cancel`);
            assert.ok(c.answers_to(call.id).every(line => line.includes(String(request_cancelled))));
        });

        rule('TIME-2: a timeout of the client reaches the handler', async t => {
            const c = await connect(t, await serve(t), client);
            const call = await started(c, 'wait', long, { timeout: 500, onprogress: () => {} });
            await assert.rejects(call.result, /timed out/i);
            await assert_silence(c, call, is_legacy);
        });

        rule('RCV-1 RCV-2: a hundred parked calls, all aborted', async t => {
            const c = await connect(t, await serve(t), client);
            const calls = await Promise.all(Array.from({ length: 100 }, () => started(c, 'park', {})));
            for (const call of calls) call.abort();
            await Promise.all(calls.map(call => assert.rejects(call.result)));
            await Promise.all(calls.map(call => c.mark('cancel', call.key)));
            await c.fence();
        });

        rule('HTTP-1 HTTP-2: a client that disconnects cancels in 2026-07-28, and not before', async t => {
            const served = await serve(t);
            const c = await connect(t, served, client);
            const call = await started(c, is_legacy ? 'wait_ignore' : 'wait', is_legacy ? { ms: 300, tick_ms: 5 } : long, {
                onprogress: () => {}
            });
            await c.close();
            const other = await connect(t, served, client);
            await other.fence();
            await c.mark(is_legacy ? 'end' : 'cancel', call.key);
            if (is_legacy) assert.ok(!c.journal.entries.some(e => e.from === 'stderr' && / cancelled: /.test(e.line)));
        });

        rule('a tool asks the client for sampling, and the user a question', async t => {
            const answer = { role: 'assistant', content: { type: 'text', text: 'vermilion' }, model: 'test' };
            const c = await connect(t, await serve(t), client, {
                sample: async () => answer,
                elicit: async () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.org' } })
            });
            const { content } = await c.call('ask', { key: new_key('ask') });
            assert.match(content[0].text, /vermilion/);
            if (client.revision === '2025-03-26') return; // which has no elicitation
            const asked = await c.call('test_elicitation', { message: 'Who are you?' });
            assert.match(asked.content[0].text, /accept/);
        });

        if (!is_legacy) return;

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
            const c = await connect(t, await serve(t), client, { sample });
            const call = await started(c, 'ask', {});
            await sampling;
            call.abort();
            await assert.rejects(call.result);
            await c.mark('cancel', call.key);
            await sampling_stopped;
            await c.fence();
        });

        rule('HTTP-2: a call that was cut off is picked up again, by another connection', async t => {
            const served = await serve(t);
            const c = await connect(t, served, client);
            let token;
            const has_token = new Promise(resolve => {
                started(c, 'wait', { ms: 1500, tick_ms: 20 }, {
                    onprogress: () => {},
                    onresumptiontoken: id => resolve((token = id))
                });
            });
            await has_token;
            const { sessionId, protocolVersion } = c.transport;
            await c.close();
            const back = new HttpConnection(client.sdk, {
                ...served,
                ...client.options,
                transport_options: { sessionId, protocolVersion }
            });
            t.after(() => back.close());
            back.transport.setProtocolVersion?.(client.revision);
            await back.client.connect(back.transport);
            const { content } = await back.call('wait', {}, { resumptionToken: token });
            assert.equal(content[0].text, 'waited 1500 ms');
            assert.equal(served.server.journal.entries.filter(e => e.from === 'stderr' && e.line.startsWith('@start wait')).length, 1);
        });

        rule('HTTP-2: a call that nobody comes back for is cancelled', async t => {
            const c = await connect(t, await serve(t, '--abandon-ms', '100'), client);
            const call = await started(c, 'wait', long, { onprogress: () => {} });
            await c.close();
            await c.mark('cancel', call.key);
        });

        rule('RCV-1: the end of the session is the end of its calls', async t => {
            const c = await connect(t, await serve(t), client);
            const call = await started(c, 'wait', long);
            await c.transport.terminateSession();
            await c.mark('cancel', call.key);
        });
    });
}
