// Through andon: @modelcontextprotocol/server-everything, with its own tools. It ignores cancels, and the SDK that it is
// written in sees to the silence.
import assert from 'node:assert/strict';
import { new_key } from './calls.mjs';
import { always, next_progress, progress_of, request_cancelled, rule, told_by_server } from './relayed_watch.mjs';

const resource = 'demo://resource/dynamic/text/1';
const legacy = pair => pair.is_legacy;

async function echo(c) {
    const message = new_key('echo');
    const { content } = await c.call('echo', { message });
    assert.equal(content[0].text, `Echo: ${message}`);
    return await c.journal.first(`answer to ${message}`, e => e.from === 'server' && e.line.includes(`Echo: ${message}`));
}

export const reference_server_rules = [
    rule('lists, reads, prompts and completes', always, async c => {
        assert.ok((await c.client.listTools()).tools.length > 5);
        assert.ok((await c.client.readResource({ uri: resource })).contents[0].text.length > 0);
        assert.ok((await c.client.getPrompt({ name: 'simple-prompt' })).messages.length > 0);
        const ref = { type: 'ref/prompt', name: 'completable-prompt' };
        const { completion } = await c.client.complete({ ref, argument: { name: 'department', value: '' } });
        assert.ok(completion.values.length > 0);
        await echo(c);
    }),

    rule('RCV-3 RCV-4 SND-3 SND-4 SND-5: nothing is heard of a long operation after its cancel', always, async (c, { pair }) => {
        const { onprogress, progressed } = next_progress();
        const controller = new AbortController();
        const result = c.call('trigger-long-running-operation', { duration: 1, steps: 50 }, { onprogress, signal: controller.signal });
        await progressed;
        const { id } = c.sent('tools/call').at(-1);
        controller.abort('Stop');
        await assert.rejects(result);
        const since = await echo(c);
        // Its time would be over with this one.
        await c.call('trigger-long-running-operation', { duration: 1, steps: 1 });
        assert.deepEqual(c.journal.entries.slice(since.index + 1).filter(progress_of(id)), []);
        const codes = c.answers_to(id).map(line => JSON.parse(line).error?.code);
        assert.deepEqual(codes, pair.over_http && pair.is_legacy ? [request_cancelled] : []);
    }),

    rule('asks the model and the user, and knows the roots', legacy, async c => {
        const sampled = await c.call('trigger-sampling-request', { prompt: 'Which colour?', maxTokens: 10 });
        assert.match(sampled.content[0].text, /vermilion/);
        assert.match(JSON.stringify(await c.call('trigger-elicitation-request', {})), /accept/);
        assert.match((await c.call('get-roots-list', {})).content[0].text, /srv\/files/);
    }),

    rule('RCV-12: its question goes with the call that asked it', legacy, async (c, { questions }) => {
        const question = questions.leave_open('sample');
        const controller = new AbortController();
        const result = c.call('trigger-sampling-request', { prompt: 'Which?', maxTokens: 10 }, { signal: controller.signal });
        await question.asked;
        controller.abort();
        await assert.rejects(result);
        await echo(c);
    }),

    rule('changes of a resource are told to one who subscribed', legacy, async c => {
        await c.client.subscribeResource({ uri: resource });
        await c.call('toggle-subscriber-updates', {});
        await c.journal.first(
            'update',
            e => told_by_server('notifications/resources/updated')(e) && e.message.params.uri === resource
        );
        await c.call('toggle-subscriber-updates', {});
    })
];
