// The tools that the servers of both SDKs offer; build/bin/everything_server offers the same ones but spin_ignore: after a
// cancel the SDKs are silent, so that work which goes on can be seen by its processor time alone.
//
// A tool's run(args, call) gets what its SDK knows of the call: call.signal, the AbortSignal of the request, and
// call.progress(done, total), which sends a notification if the caller gave a progress token. It returns a text.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { z } from 'zod';

export const marking = process.env.ANDON_MARKS === '1';

function mark(what, key) {
    if (marking) process.stderr.write(`@${what} ${key} ${process.hrtime.bigint()}\n`);
}

// Marks a cancel as it came over the wire, whatever becomes of it.
export function hear({ method, params }) {
    if (marking && method === 'notifications/cancelled') process.stderr.write(`@heard ${JSON.stringify(params)}\n`);
}

// The same for all that comes on standard input, beside the SDK that reads it.
export function hear_stdin() {
    if (!marking) return;
    let rest = '';
    process.stdin.on('data', chunk => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        lines.forEach(line => hear(JSON.parse(line)));
    });
}

// Marks the start of a handler, and its cancel at the moment when its signal fires.
export function start(key, signal) {
    mark('start', key);
    const cancelled = () => mark('cancel', key);
    if (signal.aborted) cancelled();
    else signal.addEventListener('abort', cancelled, { once: true });
}

async function tick_until_done({ ms, tick_ms }, progress, options) {
    for (let waited = 0; waited < ms; ) {
        const tick = Math.min(tick_ms, ms - waited);
        await setTimeout(tick, undefined, options);
        waited += tick;
        await progress(waited, ms);
    }
    return `waited ${ms} ms`;
}

const key = z.string().default('').describe('Names the call in the marks on stderr');
export const ms = z.number().int().nonnegative().describe('Milliseconds in all');
const tick_ms = z.number().int().positive().default(100).describe('Milliseconds from one progress to the next');

export const tools = {
    echo: {
        description: 'Returns the text',
        input: { text: z.string() },
        run: async ({ text }) => text
    },
    wait: {
        description: 'Waits, with progress at each tick, and stops when it is cancelled',
        input: { ms, tick_ms, key },
        run: async (args, { signal, progress }) => {
            start(args.key, signal);
            return await tick_until_done(args, progress, { signal });
        }
    },
    wait_ignore: {
        description: 'Waits, with progress at each tick, and never looks whether it was cancelled',
        input: { ms, tick_ms, key },
        run: async (args, { progress }) => {
            mark('start', args.key);
            const text = await tick_until_done(args, progress);
            mark('end', args.key);
            return text;
        }
    },
    park: {
        description: 'Waits for its cancel',
        input: { key },
        run: async ({ key }, { signal }) => {
            start(key, signal);
            if (!signal.aborted) {
                await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
            }
            return 'cancelled';
        }
    },
    spin: {
        description: 'Keeps the CPU busy and polls for its cancel',
        input: { ms, key },
        run: async ({ ms, key }, { signal }) => {
            mark('start', key);
            const end = performance.now() + ms;
            let sum = 0;
            while (performance.now() < end) {
                for (let i = 0; i < 100_000; i++) sum += i;
                await setImmediate(); // without this turn of the event loop no cancel would ever be read
                if (signal.aborted) {
                    mark('cancel', key);
                    return 'cancelled';
                }
            }
            return `spun to ${sum}`;
        }
    },
    spin_ignore: {
        description: 'Keeps the CPU busy and never looks whether it was cancelled',
        input: { ms, key },
        run: async ({ ms, key }) => {
            mark('start', key);
            const end = performance.now() + ms;
            let sum = 0;
            while (performance.now() < end) {
                for (let i = 0; i < 100_000; i++) sum += i;
                await setImmediate();
            }
            mark('end', key);
            return `spun to ${sum}`;
        }
    },
    block: {
        description: 'Blocks its thread, which nothing can wake',
        input: { ms, key },
        run: async ({ ms, key }) => {
            mark('start', key);
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
            mark('end', key);
            return `blocked ${ms} ms`;
        }
    }
};

export const ask = {
    description: 'Asks the model of the client, and returns what it said',
    input: { key },
    sampling: { messages: [{ role: 'user', content: { type: 'text', text: 'Which colour?' } }], maxTokens: 10 }
};

// What there is beside tools, by the names that it has in everything_server.
export const contents = {
    text: { name: 'static-text', uri: 'test://static-text', text: 'This is the content of the static text resource.' },
    watched: { name: 'watched-resource', uri: 'test://watched-resource', text: 'This resource can be subscribed to.' },
    prompt: { name: 'test_simple_prompt', text: 'This is a simple prompt for testing.' }
};

// One message of every level is sent by log(level, data, logger); changed.tools() and changed.resource(uri) tell of changes.
export const telling_tools = ({ log, changed }) => ({
    test_logging_tool: async () => {
        for (const level of ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']) {
            await log(level, level, 'test_logging_tool');
        }
    },
    test_trigger_tool_change: () => changed.tools(),
    test_trigger_resource_change: () => changed.resource(contents.watched.uri)
});
export const telling_tool_names = Object.keys(telling_tools({}));

export const text_result = text => ({ content: [{ type: 'text', text }] });
