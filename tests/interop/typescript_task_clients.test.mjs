// Tasks of 2025-11-25: the client in the official TypeScript SDK v1 makes, follows, lists and cancels them on our server,
// and hosts what the server asks as tasks. The SDK v2 has no tasks: what its client can do with our tools is here too.
// ANDON_SERVER names another server command (split at spaces).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v1 from '../../peers/typescript/v1_client.mjs';
import * as v2 from '../../peers/typescript/v2_client.mjs';
import { new_key } from './calls.mjs';
import { HttpConnection, HttpServer, StdioConnection } from './connection.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const command = (process.env.ANDON_SERVER ?? `${root}build/bin/everything_server`).split(' ');
const limit = { timeout: 30_000 };
const often = ['--task-poll-ms', '20'];
const method_not_found = -32601;
const invalid_params = -32602;
const internal_error = -32603;
const request_cancelled = -32800;
const missing_capability = -32021;

async function over_stdio(t, sdk, { flags = [], ...options } = {}) {
    const c = new StdioConnection(sdk, { command: [...command, ...often, ...flags], ...options });
    const errors = [];
    c.client.onerror = ({ message }) => {
        // What else it says is about messages of ours that are not as the SDK wants them.
        if (!/^Received a response for an unknown message ID/.test(message)) errors.push(message); // it crossed an abort
    };
    await c.open();
    t.after(async () => {
        await c.close();
        assert.deepEqual(c.unreadable(), []);
        assert.deepEqual(errors, []);
    });
    return c;
}

async function serve(t, ...flags) {
    const server = new HttpServer(command, ...often, ...flags);
    t.after(async () => assert.deepEqual(await server.stop(), { code: 0, signal: null }));
    return { server, url: await server.url() };
}

async function join_server(t, served, sdk, options) {
    const c = new HttpConnection(sdk, { ...served, ...options });
    await c.open();
    t.after(() => c.close());
    return c;
}

async function over_http(t, sdk, { flags = [], ...options } = {}) {
    return join_server(t, await serve(t, ...flags), sdk, options);
}

async function collect(stream) {
    const all = [];
    for await (const message of stream) all.push(message);
    return all;
}

// Makes a task of the call. `rest` is what the SDK says of it from then on, up to its result or error.
async function task_of(c, tool, args, options) {
    const { tasks } = c.client.experimental;
    const stream = tasks.callToolStream({ name: tool, arguments: args }, undefined, { task: {}, ...options });
    const { value } = await stream.next();
    assert.equal(value.type, 'taskCreated', JSON.stringify(value.error?.message));
    const { taskId: id } = value.task;
    return {
        task: value.task,
        rest: collect(stream),
        get: () => tasks.getTask(id),
        result: () => tasks.getTaskResult(id, v1.CallToolResultSchema),
        cancel: () => tasks.cancelTask(id)
    };
}

// The same, and its handler runs.
async function started(c, tool, args, options) {
    const key = new_key(tool);
    const made = await task_of(c, tool, { ...args, key }, options);
    await c.mark('start', key);
    return { key, ...made };
}

const text_in = ({ content }) => content[0].text;
const of_code = code => error => error.code === code || assert.fail(`${error.code}: ${error.message}`);
const accept = async () => ({ action: 'accept', content: { confirm: true } });

// Something that is asked, and never answered.
function unanswered() {
    let asked, stopped;
    const was_asked = new Promise(resolve => (asked = resolve));
    const was_stopped = new Promise(resolve => (stopped = resolve));
    const answer = (params, signal) => {
        asked(params);
        return new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
                stopped();
                reject(signal.reason);
            });
        });
    };
    return { was_asked, was_stopped, answer };
}

for (const [name, connect] of [['stdio', over_stdio], ['HTTP', over_http]]) {
    describe(`tasks of v1, ${name}`, () => {
        const rule = (name, body) => it(name, limit, body);

        rule('the SDK finds out which tools are tasks, and follows one to its result', async t => {
            const c = await connect(t, v1);
            const { tools } = await c.client.listTools();
            const support = Object.fromEntries(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
            assert.equal(support.task_echo, 'optional');
            assert.equal(support.failing_job, 'required');
            assert.equal(support.echo ?? 'forbidden', 'forbidden');
            const params = { name: 'task_echo', arguments: { text: 'Grüße, 世界' } };
            const messages = await collect(c.client.experimental.tasks.callToolStream(params));
            assert.deepEqual([messages[0].type, messages.at(-1).type], ['taskCreated', 'result']);
            const { task } = messages[0];
            assert.equal(task.status, 'working');
            assert.equal(task.pollInterval, 20);
            assert.equal(messages.at(-2).task.status, 'completed');
            const { result } = messages.at(-1);
            assert.equal(text_in(result), 'Grüße, 世界');
            assert.deepEqual(result._meta['io.modelcontextprotocol/related-task'], { taskId: task.taskId });
        });

        rule('progress and changes of the status come after the answer to the call', async t => {
            const c = await connect(t, v1);
            const seen = [];
            let completed;
            const told = new Promise(resolve => (completed = resolve));
            c.client.setNotificationHandler(v1.TaskStatusNotificationSchema, ({ params }) => {
                if (params.status === 'completed') completed(params);
            });
            const { task, rest } = await started(c, 'task_wait', { ms: 200, tick_ms: 20 }, {
                onprogress: ({ progress }) => seen.push(progress)
            });
            assert.equal(text_in((await rest).at(-1).result), 'waited 200 ms');
            assert.equal((await told).taskId, task.taskId);
            assert.ok(seen.length >= 3, `progress came ${seen.length} times`);
            assert.ok(seen.every((progress, i) => i === 0 || progress > seen[i - 1]), `not increasing: ${seen}`);
        });

        rule('the result can be waited for, and had again', async t => {
            const c = await connect(t, v1);
            const { task, result, get } = await started(c, 'task_wait', { ms: 200 }, { task: { ttl: 60_000 } });
            assert.equal(task.ttl, 60_000);
            assert.equal(text_in(await result()), 'waited 200 ms');
            assert.equal((await get()).status, 'completed');
            assert.equal(text_in(await result()), 'waited 200 ms');
        });

        rule('TASK-1 TASK-2 TASK-3 TASK-6: a cancel stops the handler, and stands', async t => {
            const c = await connect(t, v1);
            const { key, rest, get, result, cancel } = await started(c, 'task_park', {});
            assert.equal((await get()).status, 'working');
            const waiting = assert.rejects(result(), of_code(request_cancelled));
            assert.equal((await cancel()).status, 'cancelled');
            await c.mark('cancel', key);
            await waiting;
            assert.match((await rest).at(-1).error.message, /was cancelled/);
            assert.equal((await get()).status, 'cancelled');
            await assert.rejects(cancel(), of_code(invalid_params));
            await assert.rejects(result(), of_code(request_cancelled));
        });

        rule('TASK-3: what a handler returns after its cancel is dropped', async t => {
            const c = await connect(t, v1);
            const { key, get, result, cancel } = await started(c, 'task_wait_ignore', { ms: 300, tick_ms: 20 });
            assert.equal((await cancel()).status, 'cancelled');
            await c.mark('end', key);
            assert.equal((await get()).status, 'cancelled');
            await assert.rejects(result(), of_code(request_cancelled));
        });

        rule('DIR-5 TASK-7: a client that aborts what it waits with leaves the task alone', async t => {
            const c = await connect(t, v1);
            const controller = new AbortController();
            const { key, rest, get, cancel } = await started(c, 'task_park', {}, { signal: controller.signal });
            controller.abort('not interested any more');
            assert.equal((await rest).at(-1).type, 'error');
            const { message } = await c.request(key);
            await c.client.notification({ method: 'notifications/cancelled', params: { requestId: message.id } });
            await c.fence();
            assert.equal((await get()).status, 'working');
            assert.equal((await cancel()).status, 'cancelled');
            await c.mark('cancel', key);
        });

        rule('one that asks is answered on the way to its result', async t => {
            const c = await connect(t, v1, { elicit: accept });
            const { rest } = await task_of(c, 'confirm_delete', { filename: 'a.txt' });
            const messages = await rest;
            assert.ok(messages.some(({ task }) => task?.status === 'input_required'), JSON.stringify(messages));
            assert.equal(text_in(messages.at(-1).result), 'deleted a.txt');
        });

        rule('one that asks two things at once is answered both', async t => {
            const c = await connect(t, v1, { elicit: accept });
            const { rest } = await task_of(c, 'multi_input', {});
            assert.equal(text_in((await rest).at(-1).result), '2 answers');
        });

        rule('a refusal of the user is an answer too', async t => {
            const c = await connect(t, v1, { elicit: async () => ({ action: 'decline' }) });
            const { rest } = await task_of(c, 'confirm_delete', { filename: 'a.txt' });
            assert.equal(text_in((await rest).at(-1).result), 'kept a.txt');
        });

        rule('RCV-12: cancelling a task takes back what it asked', async t => {
            const { was_asked, was_stopped, answer } = unanswered();
            const c = await connect(t, v1, { elicit: answer });
            const { task, rest, get, cancel } = await task_of(c, 'confirm_delete', { filename: 'a.txt' });
            const { message, _meta } = await was_asked;
            assert.equal(message, 'Delete a.txt?');
            assert.deepEqual(_meta['io.modelcontextprotocol/related-task'], { taskId: task.taskId });
            assert.equal((await get()).status, 'input_required');
            assert.equal((await cancel()).status, 'cancelled');
            await was_stopped;
            assert.equal((await rest).at(-1).error.code, request_cancelled);
        });

        rule('a hundred and one are listed, on two pages', async t => {
            const c = await connect(t, v1);
            const made = await Promise.all(Array.from({ length: 101 }, () => task_of(c, 'task_echo', { text: '' })));
            await Promise.all(made.map(({ rest }) => rest));
            const first = await c.client.experimental.tasks.listTasks();
            assert.equal(first.tasks.length, 100);
            const second = await c.client.experimental.tasks.listTasks(first.nextCursor);
            assert.equal(second.nextCursor, undefined);
            const listed = [...first.tasks, ...second.tasks].map(({ taskId }) => taskId);
            assert.deepEqual(listed.sort(), made.map(({ task }) => task.taskId).sort());
        });

        rule('a tool that fails makes a failed task, whose result says why', async t => {
            const c = await connect(t, v1);
            const { rest, get, result } = await task_of(c, 'failing_job', {});
            assert.match((await rest).at(-1).error.message, /failed/);
            assert.equal((await get()).status, 'failed');
            const { isError, content } = await result();
            assert.ok(isError);
            assert.equal(content[0].text, 'the job failed, as it always does');
        });

        rule('so does an error of the protocol, and it is the result', async t => {
            const c = await connect(t, v1);
            const { rest, get, result } = await task_of(c, 'protocol_error_job', {});
            assert.match((await rest).at(-1).error.message, /failed/);
            assert.equal((await get()).status, 'failed');
            await assert.rejects(result(), error => of_code(internal_error)(error) && /the job broke/.test(error.message));
        });

        rule('TASK-2: an unknown task is an error', async t => {
            const c = await connect(t, v1);
            const { tasks } = c.client.experimental;
            await assert.rejects(tasks.getTask('no such task'), of_code(invalid_params));
            await assert.rejects(tasks.getTaskResult('no such task', v1.CallToolResultSchema), of_code(invalid_params));
            await assert.rejects(tasks.cancelTask('no such task'), of_code(invalid_params));
            await assert.rejects(tasks.listTasks('no such cursor'), of_code(invalid_params));
        });

        rule('a tool is a task only where it says so, and always where it must be', async t => {
            const c = await connect(t, v1);
            await assert.rejects(task_of(c, 'echo', { text: '' }), /-32601/);
            await assert.rejects(c.call('failing_job', {}), of_code(method_not_found));
            assert.equal(text_in(await c.call('task_echo', { text: 'at once' })), 'at once');
        });

        rule('the server asks, and the client makes a task of it', async t => {
            const store = new v1.InMemoryTaskStore();
            t.after(() => store.cleanup());
            const answer = { role: 'assistant', content: { type: 'text', text: 'vermilion' }, model: 'test' };
            const c = await connect(t, v1, {
                flags: ['--task-questions'],
                capabilities: { tasks: { cancel: {}, requests: { sampling: { createMessage: {} } } } },
                taskStore: store,
                sample: async (params, _, { taskStore }) => {
                    assert.deepEqual(params.task, {});
                    const task = await taskStore.createTask({ pollInterval: 20 });
                    setImmediate(() => taskStore.storeTaskResult(task.taskId, 'completed', answer));
                    return { task };
                }
            });
            assert.equal(text_in(await c.call('ask', { key: new_key('ask') })), 'vermilion');
        });

        rule('RCV-12: abort of a call cancels the task that it asked for', async t => {
            const store = new v1.InMemoryTaskStore();
            t.after(() => store.cleanup());
            let made, cancelled;
            const was_made = new Promise(resolve => (made = resolve));
            const was_cancelled = new Promise(resolve => (cancelled = resolve));
            const update = store.updateTaskStatus;
            store.updateTaskStatus = async (...given) => {
                await update.apply(store, given);
                if (given[1] === 'cancelled') cancelled(given[0]);
            };
            const c = await connect(t, v1, {
                flags: ['--task-questions'],
                capabilities: { tasks: { cancel: {}, requests: { sampling: { createMessage: {} } } } },
                taskStore: store,
                sample: async (_params, _signal, { taskStore }) => {
                    const task = await taskStore.createTask({ pollInterval: 20 });
                    made(task.taskId);
                    return { task };
                }
            });
            const controller = new AbortController();
            const key = new_key('ask');
            const asking = assert.rejects(c.call('ask', { key }, { signal: controller.signal }));
            const id = await was_made;
            await c.journal.first('tasks/result', e => e.from === 'server' && e.message?.method === 'tasks/result');
            controller.abort();
            await asking;
            await c.mark('cancel', key);
            assert.equal(await was_cancelled, id);
        });
    });
}

describe('tasks of v1', () => {
    it('TASK-7: one is kept in a file, and the next server knows how it ended', limit, async t => {
        const folder = mkdtempSync(join(tmpdir(), 'andon-'));
        t.after(() => rmSync(folder, { recursive: true }));
        const flags = ['--task-store', join(folder, 'tasks')];
        const before = await over_stdio(t, v1, { flags });
        const done = await task_of(before, 'task_echo', { text: 'kept' });
        await done.rest;
        const cut = await started(before, 'task_park', {});
        await before.close();
        await cut.rest;
        const { tasks } = (await over_stdio(t, v1, { flags })).client.experimental;
        assert.equal(text_in(await tasks.getTaskResult(done.task.taskId, v1.CallToolResultSchema)), 'kept');
        const { status, statusMessage } = await tasks.getTask(cut.task.taskId);
        assert.equal(status, 'failed');
        assert.match(statusMessage, /shut down/);
    });

    const as = token => ({ transport_options: { requestInit: { headers: { Authorization: `Bearer ${token}` } } } });

    it('TASK-5 TASK-7: one outlives its session, and answers to whoever made it and nobody else', limit, async t => {
        const served = await serve(t, '--token', 'one=ada', '--token', 'two=bob');
        const first = await join_server(t, served, v1, as('one'));
        const { key, task, rest } = await started(first, 'task_park', {});
        await first.transport.terminateSession();
        await first.close();
        await rest;
        const stranger = (await join_server(t, served, v1, as('two'))).client.experimental.tasks;
        await assert.rejects(stranger.getTask(task.taskId), of_code(invalid_params));
        await assert.rejects(stranger.cancelTask(task.taskId), of_code(invalid_params));
        assert.deepEqual((await stranger.listTasks()).tasks, []);
        const back = await join_server(t, served, v1, as('one'));
        const { tasks } = back.client.experimental;
        assert.equal((await tasks.getTask(task.taskId)).status, 'working');
        assert.equal((await tasks.cancelTask(task.taskId)).status, 'cancelled');
        await back.mark('cancel', key);
    });

    for (const [how, leave] of [
        ['ended its session', c => c.transport.terminateSession()],
        ['never comes back', () => {}]
    ]) {
        it(`TASK-7: what one asked of a client that ${how} is asked of the next`, limit, async t => {
            const served = await serve(t, '--token', 'one=ada', '--abandon-ms', '100');
            const { was_asked, answer } = unanswered();
            const first = await join_server(t, served, v1, { ...as('one'), elicit: answer });
            const { task, rest } = await task_of(first, 'confirm_delete', { filename: 'a.txt' });
            await was_asked;
            await leave(first);
            await first.close();
            await rest;
            const next = await join_server(t, served, v1, { ...as('one'), elicit: accept });
            const { tasks } = next.client.experimental;
            assert.equal((await tasks.getTask(task.taskId)).status, 'input_required');
            assert.equal(text_in(await tasks.getTaskResult(task.taskId, v1.CallToolResultSchema)), 'deleted a.txt');
        });
    }
});

for (const [name, refusal, options] of [
    ['legacy', method_not_found, {}],
    ['negotiating', missing_capability, { versionNegotiation: { mode: 'auto' } }]
]) {
    describe(`tools that may be tasks, and v2, ${name}, which knows none`, () => {
        it('they answer as usual, unless they must be tasks', limit, async t => {
            const c = await over_stdio(t, v2, options);
            assert.equal(text_in(await c.call('task_echo', { text: 'at once' })), 'at once');
            await assert.rejects(c.call('failing_job', {}), of_code(refusal));
        });
    });
}
