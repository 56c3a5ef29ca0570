// Requests and cancels as no SDK sends them: with ids and fields of the test's own choice.
import { new_key } from './calls.mjs';

const version = 'io.modelcontextprotocol/protocolVersion';

export class RawCalls {
    #c;
    #pair;

    constructor(c, pair) {
        this.#c = c;
        this.#pair = pair;
    }

    // What the SDK writes into each request under 2026-07-28.
    #meta() {
        const usual = this.#c.sent('tools/call').findLast(({ params }) => params._meta?.[version]);
        const { progressToken, ...meta } = usual?.params._meta ?? {};
        return this.#pair.is_legacy ? {} : { _meta: meta };
    }

    request(id, method, params = {}) {
        const controller = new AbortController();
        const message = { jsonrpc: '2.0', id, method, params: { ...params, ...this.#meta() } };
        // Over HTTP this waits for the answer; where that is late or never comes is for the test to say.
        this.#c.transport.send(message, { requestSignal: controller.signal }).catch(() => {});
        return controller;
    }

    call(id, tool, args = {}) {
        return this.request(id, 'tools/call', { name: tool, arguments: args });
    }

    // A call that waits for its cancel; its handler runs.
    async park(id) {
        const key = new_key('park');
        const controller = this.call(id, 'park', { key });
        await this.#c.mark('start', key);
        return { id, key, controller };
    }

    notify(method, params) {
        return this.#c.transport.send({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) }).catch(() => {});
    }

    // In the way that the revision has for it.
    async cancel({ id, controller }, reason) {
        if (this.#pair.cancels_by_stream) return controller.abort();
        await this.notify('notifications/cancelled', { requestId: id, reason });
    }

    answer(id) {
        return this.#c.journal.first(
            `answer to ${id}`,
            e => e.from === 'server' && e.message?.id === id && e.message.method === undefined
        );
    }
}
