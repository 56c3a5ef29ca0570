// Cancels and timeouts of the client's SDK, through andon.
import assert from 'node:assert/strict';
import { cancels_of, new_key, started } from './calls.mjs';
import {
    always,
    assert_server_heard,
    assert_silence,
    fence,
    is_running,
    long,
    marked,
    next_progress,
    progress_of,
    rule,
    until
} from './relayed_watch.mjs';

const progresses = pair => pair.progresses;
const asks = pair => pair.asks;
// What server it is has nothing to do with andon's own limits.
const has_limits = pair => pair.server.name === 'TypeScript v1' && pair.server.behind === 'command';
const request_timeout = -32001;

async function stopped(c, pair, call, ended) {
    const reason = `Stop ${call.key}`;
    call.abort(reason);
    await assert.rejects(call.result);
    await c.mark('cancel', call.key);
    const reasons = cancels_of(c, call.id).map(({ params }) => params.reason);
    assert.deepEqual(reasons, pair.cancels_by_stream ? [] : [reason]);
    await assert_silence(c, pair, [call], ended);
    if (!pair.cancels_by_stream) await assert_server_heard(c, pair, reason); // a stream that ends says nothing of why
}

export const cancel_rules = [
    rule('MSG-1 RCV-1 RCV-3 RCV-4 SND-3 SND-4 SND-5: a call that sends progress is stopped', progresses, async (c, { pair }) => {
        const { onprogress, progressed } = next_progress();
        const call = await started(c, 'wait', long, { onprogress });
        await progressed;
        await stopped(c, pair, call);
    }),

    rule('RCV-1 RCV-3 HTTP-1 HTTP-3: a call that has said nothing is stopped', always, async (c, { pair }) => {
        await stopped(c, pair, await started(c, 'park', {}));
    }),

    rule('RCV-1: a CPU loop that polls is stopped', always, async (c, { pair }) => {
        await stopped(c, pair, await started(c, 'spin', { ms: long.ms }));
    }),

    rule('RCV-2 RCV-12: a call that started processes is stopped, and they are gone', pair => pair.server.children, async (c, { t, pair }) => {
        const call = await started(c, 'child', { seconds: 600 });
        const { line } = await c.mark('pids', call.key);
        const pids = line.split(' ').slice(2, 5).map(Number);
        assert.ok(pids.every(is_running), line);
        await stopped(c, pair, call);
        await until(() => !pids.some(is_running), t.signal);
    }),

    rule('RCV-4 SND-1: a handler that goes on after the cancel is not heard', always, async (c, { pair }) => {
        const { onprogress, progressed } = next_progress();
        const call = await started(c, 'wait_ignore', { ms: 500, tick_ms: 5 }, { onprogress });
        if (pair.progresses) await progressed;
        call.abort();
        await assert.rejects(call.result);
        // Without a session the handler's progress fails with its connection, and it ends there.
        const goes_on = !(pair.server.without_sessions && pair.server.behind === 'url');
        await assert_silence(c, pair, [call], () => goes_on && c.mark('end', call.key));
    }),

    rule('RCV-4 SND-1 SND-2: a handler that blocks is not heard, and the client does not wait for it', always, async (c, { pair }) => {
        const call = await started(c, 'block', { ms: 1500 });
        call.abort();
        await assert.rejects(call.result);
        assert.ok(!marked(c, 'end', call.key), 'the client waited for the blocked handler');
        await assert_silence(c, pair, [call], () => c.mark('end', call.key));
    }),

    rule('RCV-1 RCV-2: thirty calls at once, all stopped', always, async (c, { pair }) => {
        const calls = await Promise.all(Array.from({ length: 30 }, () => started(c, 'park', {})));
        for (const call of calls) call.abort();
        await Promise.all(calls.map(call => assert.rejects(call.result)));
        await Promise.all(calls.map(call => c.mark('cancel', call.key)));
        await assert_silence(c, pair, calls);
    }),

    rule('RCV-9: cancels against completions: each call has one outcome', always, async c => {
        const outcomes = await Promise.all(
            Array.from({ length: 60 }, async (_, i) => {
                const controller = new AbortController();
                const key = new_key('race');
                const result = c.call('wait', { ms: 1 + (i % 5), tick_ms: 1, key }, { signal: controller.signal });
                const { message } = await c.request(key);
                setTimeout(() => controller.abort(), i % 9);
                const outcome = await result.then(() => 'answered', () => 'stopped');
                return { id: message.id, outcome };
            })
        );
        await fence(c);
        for (const { id, outcome } of outcomes) {
            const answers = c.answers_to(id);
            assert.ok(answers.length <= 1, `${answers}`);
            if (outcome === 'answered') assert.equal(answers.length, 1);
        }
    }),

    rule('a tool asks the model, and is answered', asks, async c => {
        const { content } = await c.call('ask', { key: new_key('ask') });
        assert.match(content[0].text, /vermilion/);
    }),

    rule('a tool asks the user, and for the roots', pair => asks(pair) && pair.server.threads, async c => {
        assert.match((await c.call('test_elicitation', { message: 'Who?' })).content[0].text, /accept/);
        assert.match((await c.call('test_input_required_result_list_roots', {})).content[0].text, /srv\/files/);
    }),

    rule('a tool that asks across the eras is told that it cannot', pair => pair.is_translated, async c => {
        const said = await c.call('ask', { key: new_key('ask') }).catch(({ message }) => ({ isError: true, message }));
        assert.ok(said.isError, JSON.stringify(said));
        await fence(c);
    }),

    rule('RCV-12: a question goes with the call that asked it', asks, async (c, { pair, questions }) => {
        const question = questions.leave_open('sample');
        const call = await started(c, 'ask', {});
        await question.asked;
        call.abort();
        await assert.rejects(call.result);
        await question.taken_back;
        if (pair.is_legacy) await c.mark('cancel', call.key); // later the call has been answered by the question itself
        await fence(c);
    }),

    rule('RCV-12: a question to the user goes with the call that asked it', pair => asks(pair) && pair.server.threads, async (c, { questions }) => {
        const question = questions.leave_open('elicit');
        const controller = new AbortController();
        const result = c.call('test_elicitation', { message: 'Who?' }, { signal: controller.signal });
        await question.asked;
        controller.abort();
        await assert.rejects(result);
        await question.taken_back;
        await fence(c);
    }),

    rule('RCV-12: a question for the roots goes with the call that asked it', pair => asks(pair) && pair.server.threads, async (c, { questions }) => {
        const question = questions.leave_open('roots');
        const controller = new AbortController();
        const result = c.call('test_input_required_result_list_roots', {}, { signal: controller.signal });
        await question.asked;
        controller.abort();
        await assert.rejects(result);
        await question.taken_back;
        await fence(c);
    })
];

// These only wait: for one pair they all run at once.
export const time_rules = [
    rule('TIME-1 TIME-2: a timeout of the client reaches the handler', always, async (c, { pair }) => {
        const call = await started(c, 'park', {}, { timeout: 1500 });
        await assert.rejects(call.result, /timed out/i);
        await c.mark('cancel', call.key);
        assert.equal(cancels_of(c, call.id).length, pair.cancels_by_stream ? 0 : 1);
        await assert_silence(c, pair, [call]);
    }),

    rule('TIME-3: progress holds off the timeout, and the result arrives', progresses, async c => {
        const call = await started(c, 'wait', { ms: 2000, tick_ms: 50 }, {
            timeout: 1500,
            resetTimeoutOnProgress: true,
            onprogress: () => {}
        });
        assert.equal((await call.result).content[0].text, 'waited 2000 ms');
        assert.equal(c.journal.entries.filter(progress_of(call.id)).length, 40);
        assert.deepEqual(cancels_of(c, call.id), []);
    }),

    // The SDKs look at the maximum only when progress comes. v1 then sends the cancel when the timeout would have been over
    // too; v2 forgets it, and what stops the call is a limit of andon's (below).
    rule('TIME-4: the maximum of the client holds whatever progress comes', progresses, async (c, { pair }) => {
        const call = await started(c, 'wait', long, {
            timeout: 1500,
            maxTotalTimeout: 1600,
            resetTimeoutOnProgress: true,
            onprogress: () => {}
        });
        await assert.rejects(call.result, /maximum total timeout/i);
        if (pair.client.sends_cancel_at_maximum) {
            await c.mark('cancel', call.key);
            await assert_silence(c, pair, [call]);
        }
        await fence(c);
    })
];

export const limit_rules = [
    rule('TIME-4: the maximum of andon holds, and it sends the cancel that the client forgot', has_limits, async (_, { t, open }) => {
        const c = await open({ flags: ['--max-timeout', '2s'] });
        t.after(() => c.close());
        await fence(c);
        const call = await started(c, 'wait', long, { onprogress: () => {} });
        await assert.rejects(call.result, ({ code }) => code === request_timeout);
        await c.mark('cancel', call.key);
        assert.equal(c.answers_to(call.id).length, 1);
        const answered = c.journal.entries.find(e => e.from === 'server' && e.message?.id === call.id);
        await fence(c);
        assert.deepEqual(c.journal.entries.slice(answered.index + 1).filter(progress_of(call.id)), []);
    }),

    rule('TIME-1 TIME-3: andon cancels what shows no sign of life, and nothing else', has_limits, async (_, { t, open }) => {
        const c = await open({ flags: ['--timeout', '1500ms'] });
        t.after(() => c.close());
        await fence(c);
        const lives = await started(c, 'wait', { ms: 2000, tick_ms: 50 }, { onprogress: () => {} });
        const silent = await started(c, 'park', {});
        await assert.rejects(silent.result, ({ code }) => code === request_timeout);
        await c.mark('cancel', silent.key);
        assert.equal((await lives.result).content[0].text, 'waited 2000 ms');
    })
];
