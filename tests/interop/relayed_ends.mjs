// How a connection ends, through andon. Each but the last rule opens its own; the last one ends the one that is shared.
import assert from 'node:assert/strict';
import { started } from './calls.mjs';
import { fence, is_running, long, rule } from './relayed_watch.mjs';

const is_stdio = pair => !pair.over_http;
const is_legacy_http = pair => pair.over_http && pair.is_legacy;

export const end_rules = [
    rule('DIR-4: a cancel of initialize is ignored', pair => is_stdio(pair) && pair.is_legacy, async (_, { t, client }) => {
        const other = await client();
        t.after(() => other.close());
        const { transport } = other;
        const send = transport.send;
        transport.send = async (message, ...more) => {
            await send(message, ...more);
            if (message.method !== 'initialize') return;
            await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id } });
        };
        await other.open();
        await fence(other);
        assert.equal(other.sent('notifications/cancelled').length, 1);
    }),

    rule('HTTP-2: a legacy client that disconnects stops nothing', is_legacy_http, async (c, { open }) => {
        const other = await open();
        const call = await started(other, 'wait_ignore', { ms: 300, tick_ms: 5 }, { onprogress: () => {} });
        await other.close();
        await c.mark('end', call.key);
        await fence(c);
    }),

    rule('RCV-1 RCV-2: the end of the session is the end of its calls', is_legacy_http, async c => {
        const call = await started(c, 'park', {});
        await c.transport.terminateSession();
        await c.mark('cancel', call.key);
    }),

    rule('HTTP-1: a modern client that disconnects stops its calls', pair => pair.cancels_by_stream, async c => {
        const calls = [await started(c, 'park', {}), await started(c, 'wait', long, { onprogress: () => {} })];
        await c.close();
        for (const call of calls) await c.mark('cancel', call.key);
    }),

    rule('RCV-2: closing ends andon, and what is in flight', is_stdio, async (c, { pair, t }) => {
        const calls = [await started(c, 'park', {}), await started(c, 'wait', long)];
        const closed = c.close(); // sends SIGTERM to one that is still there after two seconds
        const { code, signal } = await c.exit();
        await closed;
        assert.deepEqual({ code, signal }, { code: 0, signal: null });
        assert.ok(!is_running(c.pid));
        if (pair.server.behind === 'url') for (const call of calls) await c.mark('cancel', call.key);
    })
];
