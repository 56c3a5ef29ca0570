// Ids and cancels as no SDK sends them, through andon.
import assert from 'node:assert/strict';
import { new_key } from './calls.mjs';
import { RawCalls } from './raw_calls.mjs';
import { always, assert_server_heard, fence, heard, marked, method_not_found, request_cancelled, rule, told_by_server } from './relayed_watch.mjs';

const invalid_request = -32600;
const by_notification = pair => !pair.cancels_by_stream;
const is_session = by_notification;

export const id_rules = [
    rule('MSG-3 DIR-3: an id is its type and its value', by_notification, async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const calls = [];
        for (const id of [1_000_001, '1000001', -7, '', 0]) calls.push(await raw.park(id));
        for (const requestId of [1_000_001.9, '-7', '0', '01000001', null, false]) {
            await raw.notify('notifications/cancelled', { requestId });
        }
        await fence(c);
        for (const call of calls) assert.ok(!marked(c, 'cancel', call.key), `${JSON.stringify(call.id)} was stopped`);
        while (calls.length > 0) {
            const call = calls.shift();
            await raw.cancel(call);
            await c.mark('cancel', call.key);
            await fence(c);
            for (const other of calls) assert.ok(!marked(c, 'cancel', other.key), `${other.id} was stopped with ${call.id}`);
        }
    }),

    rule('MSG-3 HTTP-1: calls with ids that look alike are stopped one by one', pair => !by_notification(pair), async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const calls = [];
        for (const id of [1_000_001, '1000001', 1_000_001]) calls.push(await raw.park(id));
        await raw.notify('notifications/cancelled', { requestId: 1_000_001 }); // is for stdio: here it touches nothing
        await fence(c);
        while (calls.length > 0) {
            for (const { key } of calls) assert.ok(!marked(c, 'cancel', key));
            const call = calls.shift();
            await raw.cancel(call);
            await c.mark('cancel', call.key);
            await fence(c);
        }
    }),

    rule('RCV-5 DIR-3: cancels of what is unknown, or answered, go no further', always, async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const reason = new_key('pointless');
        const id = new_key('answered');
        raw.call(id, 'echo', { text: id });
        await raw.answer(id);
        await raw.notify('notifications/cancelled', { requestId: id, reason });
        await raw.notify('notifications/cancelled', { requestId: new_key('unknown'), reason });
        await raw.notify('notifications/cancelled', { requestId: 123_456_789, reason });
        await fence(c);
        await fence(c);
        assert.equal(c.answers_to(id).length, 1);
        assert.deepEqual(heard(c, reason), []);
    }),

    rule('RCV-6: malformed cancels are ignored, and as a request it is unknown', by_notification, async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const call = await raw.park(new_key('malformed'));
        const { id } = call;
        const reason = new_key('malformed');
        for (const params of [undefined, {}, { reason }, { requestId: [id], reason }, { requestId: { id }, reason }]) {
            await raw.notify('notifications/cancelled', params);
        }
        const as_request = new_key('as-a-request');
        raw.request(as_request, 'notifications/cancelled', { requestId: id, reason });
        assert.equal((await raw.answer(as_request)).message.error.code, method_not_found);
        await fence(c);
        assert.ok(!marked(c, 'cancel', call.key));
        await raw.cancel(call);
        await c.mark('cancel', call.key);
        assert.deepEqual(heard(c, reason), []);
    }),

    rule('RCV-7: a second cancel changes nothing', by_notification, async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const call = await raw.park(new_key('twice'));
        await raw.cancel(call, `first ${call.key}`);
        await raw.cancel(call, `second ${call.key}`);
        await c.mark('cancel', call.key);
        await fence(c);
        await assert_server_heard(c, pair, `first ${call.key}`);
        assert.deepEqual(heard(c, `second ${call.key}`), []);
    }),

    rule('RCV-8: an id that was cancelled can be used again', always, async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const call = await raw.park(new_key('again'));
        await raw.cancel(call);
        await c.mark('cancel', call.key);
        const ends_with_error = pair.over_http && pair.is_legacy;
        if (ends_with_error) assert.equal((await raw.answer(call.id)).message.error.code, request_cancelled);
        raw.call(call.id, 'echo', { text: `once more ${call.id}` });
        await c.journal.first('answer', e => e.from === 'server' && e.line.includes(`once more ${call.id}`));
        assert.equal(c.answers_to(call.id).length, ends_with_error ? 2 : 1);
    }),

    rule('RCV-10: an id in flight is refused, and its call untouched', is_session, async (c, { pair }) => {
        const raw = new RawCalls(c, pair);
        const call = await raw.park(new_key('taken'));
        raw.call(call.id, 'echo', { text: 'the same id' });
        assert.equal((await raw.answer(call.id)).message.error.code, invalid_request);
        await fence(c);
        assert.ok(!marked(c, 'cancel', call.key));
        await raw.cancel(call);
        await c.mark('cancel', call.key);
    }),

    rule('DIR-1: a cancel of the client touches no question of the server', pair => pair.asks && pair.is_legacy, async (c, { pair, questions }) => {
        const raw = new RawCalls(c, pair);
        const question = questions.leave_open('sample');
        const before = c.journal.entries.at(-1);
        const result = c.call('ask', { key: new_key('ask') });
        await question.asked;
        const asked = c.journal.entries.find(e => e.index > before.index && told_by_server('sampling/createMessage')(e));
        await raw.notify('notifications/cancelled', { requestId: asked.message.id });
        await fence(c);
        question.answer();
        assert.match((await result).content[0].text, /vermilion/);
    }),

    rule('DIR-6: another client with the same ids is not touched', always, async (c, { t, pair, open }) => {
        const other = await open();
        t.after(() => other.close());
        await fence(other);
        const raw = new RawCalls(c, pair);
        const others = new RawCalls(other, pair);
        const id = new_key('same');
        const call = await raw.park(id);
        const same = await others.park(id);
        await raw.cancel(call);
        await c.mark('cancel', call.key);
        await raw.cancel({ id, controller: new AbortController() }); // again: here there is none of that id now
        await fence(c);
        await fence(other);
        assert.ok(!marked(other, 'cancel', same.key));
        await others.cancel(same);
        await other.mark('cancel', same.key);
    })
];
