// Ordinary life through andon: lists, calls, progress, messages, errors, changes.
import assert from 'node:assert/strict';
import { new_key } from './calls.mjs';
import { RawCalls } from './raw_calls.mjs';
import { always, fence, method_not_found, progress_of, rule, told_by_server } from './relayed_watch.mjs';

const text = 'test://static-text';
const watched = 'test://watched-resource';
const log_level = 'io.modelcontextprotocol/logLevel';
const has_subscriptions = pair => pair.tells;

const since = (c, { index }, method) => c.journal.entries.slice(index + 1).filter(told_by_server(method));

async function told_after(c, { index }, method) {
    return await c.journal.first(method, e => e.index > index && told_by_server(method)(e));
}

export const contents_rules = [
    rule('lists the tools and calls one', always, async (c, { pair }) => {
        const { tools } = await c.client.listTools();
        for (const name of ['echo', 'wait', 'park']) assert.ok(tools.some(tool => tool.name === name), name);
        const { content } = await c.call('echo', { text: 'Grüße, 世界' });
        assert.equal(content[0].text, 'Grüße, 世界');
        const speaks = c.sent('tools/call').at(-1).params._meta?.['io.modelcontextprotocol/protocolVersion'];
        assert.equal(speaks, pair.is_legacy ? undefined : '2026-07-28');
    }),

    rule('reads a resource and gets a prompt', always, async c => {
        assert.ok((await c.client.listResources()).resources.some(({ uri }) => uri === text));
        const { contents } = await c.client.readResource({ uri: text });
        assert.match(contents[0].text, /static text resource/);
        assert.ok((await c.client.listPrompts()).prompts.some(({ name }) => name === 'test_simple_prompt'));
        const { messages } = await c.client.getPrompt({ name: 'test_simple_prompt' });
        assert.match(messages[0].content.text, /simple prompt/);
    }),

    rule('passes errors on', always, async (c, { pair }) => {
        const unknown_tool = await c.call('no_such_tool', {}).catch(error => ({ isError: true, text: error.message }));
        assert.ok(unknown_tool.isError);
        assert.match(JSON.stringify(unknown_tool), /no_such_tool/);
        // A resource that is not there has another code in either era.
        await assert.rejects(c.client.readResource({ uri: 'test://no-such' }), ({ code }) => [-32002, -32602].includes(code));
        const raw = new RawCalls(c, pair);
        const id = new_key('no-such');
        raw.request(id, 'no/such');
        assert.equal((await raw.answer(id)).message.error.code, method_not_found);
    }),

    rule('progress comes while the call runs, and then its result', pair => pair.progresses, async c => {
        const key = new_key('wait');
        const { content } = await c.call('wait', { ms: 100, tick_ms: 10, key }, { onprogress: () => {} });
        assert.equal(content[0].text, 'waited 100 ms');
        const { message: call } = await c.request(key);
        // On the wire: the SDKs drop what comes in the same breath as the result.
        const seen = c.journal.entries.filter(progress_of(call.id)).map(({ message }) => message.params.progress);
        assert.deepEqual(seen, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    }),

    rule('log messages come from the level on that was asked for', pair => pair.logs, async (c, { pair }) => {
        const before = await fence(c);
        if (pair.is_legacy) {
            await c.client.setLoggingLevel('warning');
            await c.call('test_logging_tool', {});
        } else {
            const params = { name: 'test_logging_tool', arguments: {}, _meta: { [log_level]: 'warning' } };
            await c.client.callTool(params);
        }
        await c.journal.first('last message', e => e.index > before.index && /"emergency"/.test(e.line));
        const levels = since(c, before, 'notifications/message')
            .filter(({ message }) => message.params.logger === 'test_logging_tool')
            .map(({ message }) => message.params.level);
        assert.deepEqual(levels, ['warning', 'error', 'critical', 'alert', 'emergency']);
    }),

    rule('changes are told to one who subscribed, until it wants no more', pair => has_subscriptions(pair) && pair.is_legacy, async c => {
        await c.client.subscribeResource({ uri: watched });
        const before = await fence(c);
        await c.call('test_trigger_resource_change', {});
        const updated = await told_after(c, before, 'notifications/resources/updated');
        assert.equal(updated.message.params.uri, watched);
        await c.call('test_trigger_tool_change', {});
        await told_after(c, before, 'notifications/tools/list_changed');
        await c.client.unsubscribeResource({ uri: watched });
        const after = await fence(c);
        await c.call('test_trigger_resource_change', {});
        await c.call('test_trigger_tool_change', {});
        await told_after(c, after, 'notifications/tools/list_changed'); // which goes the same way
        assert.deepEqual(since(c, after, 'notifications/resources/updated'), []);
    }),

    rule('SUB-1 SUB-3: changes are told to one who listens, until it ends that', pair => !pair.is_legacy, async c => {
        const subscription = await c.client.listen({ toolsListChanged: true, resourceSubscriptions: [watched] });
        const { id } = c.sent('subscriptions/listen').at(-1);
        const before = await fence(c);
        await c.call('test_trigger_resource_change', {});
        await c.call('test_trigger_tool_change', {});
        const updated = await told_after(c, before, 'notifications/resources/updated');
        const changed = await told_after(c, before, 'notifications/tools/list_changed');
        assert.equal(updated.message.params.uri, watched);
        for (const { message } of [updated, changed]) {
            assert.equal(message.params._meta['io.modelcontextprotocol/subscriptionId'], id);
        }
        await subscription.close();
        const after = await fence(c);
        await c.call('test_trigger_resource_change', {});
        await c.call('test_trigger_tool_change', {});
        await fence(c);
        assert.deepEqual(since(c, after, 'notifications/resources/updated'), []);
        assert.deepEqual(since(c, after, 'notifications/tools/list_changed'), []);
        assert.deepEqual(c.answers_to(id), []);
    })
];
