// Calls of the tools of everything_server, whichever way one talks to it.
import assert from 'node:assert/strict';

let keys = 0;
export const new_key = tool => `${tool}-${++keys}`;

// Calls a tool and returns when its handler runs.
export async function started(c, tool, args, options) {
    const key = new_key(tool);
    const controller = new AbortController();
    const result = c.call(tool, { ...args, key }, { signal: controller.signal, ...options });
    result.catch(() => {}); // each test looks at it when its time has come
    await Promise.race([c.mark('start', key), result.then(r => assert.fail(`${tool} ended: ${JSON.stringify(r)}`))]);
    const { message } = await c.request(key);
    return { key, id: message.id, result, abort: reason => controller.abort(reason) };
}

export function cancels_of(c, id) {
    return c.sent('notifications/cancelled').filter(({ params }) => params?.requestId === id);
}
