// A server in the TypeScript SDK v1 (@modelcontextprotocol/sdk): on stdio, or with `--http PORT [TOOL...]` over Streamable
// HTTP, with sessions. With ANDON_EVENTS=1 it answers in events there, which can be resumed.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as http from './http.mjs';
import { ask, contents, hear, hear_stdin, ms, start, telling_tool_names, telling_tools, text_result, tools } from './tools.mjs';

const in_events = process.env.ANDON_EVENTS === '1';

function progress_of(extra) {
    const progressToken = extra._meta?.progressToken;
    if (progressToken === undefined) return async () => {};
    return async (progress, total) =>
        await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress, total }
        });
}

// The SDK leaves subscriptions to its users.
function add_contents(server) {
    const subscribed = new Set();
    server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
    server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
    const changed = {
        tools: () => server.server.sendToolListChanged(),
        resource: uri => subscribed.has(uri) && server.server.sendResourceUpdated({ uri })
    };
    for (const name of telling_tool_names) {
        server.registerTool(name, {}, async ({ sessionId }) => {
            const log = (level, data, logger) => server.server.sendLoggingMessage({ level, data, logger }, sessionId);
            await telling_tools({ log, changed })[name]();
            return text_result('told');
        });
    }
    for (const { name, uri, text } of [contents.text, contents.watched]) {
        server.registerResource(name, uri, {}, () => ({ contents: [{ uri, text }] }));
    }
    const { name, text } = contents.prompt;
    server.registerPrompt(name, {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text } }] }));
}

function create_server() {
    const server = new McpServer(
        { name: 'andon-peer-typescript-v1', version: '1.0.0' },
        { capabilities: { logging: {}, resources: { subscribe: true } } }
    );
    if (http.wanted('contents')) add_contents(server);

    for (const [name, { description, input, run }] of Object.entries(tools)) {
        if (!http.wanted(name)) continue;
        server.registerTool(name, { description, inputSchema: input }, async (args, extra) =>
            text_result(await run(args, { signal: extra.signal, progress: progress_of(extra) }))
        );
    }

    if (http.wanted('ask')) {
        server.registerTool('ask', { description: ask.description, inputSchema: ask.input }, async ({ key }, { signal }) => {
            start(key, signal);
            const { content } = await server.server.createMessage(ask.sampling, { signal });
            return text_result(content.text);
        });
    }
    if (in_events) {
        server.registerTool('cut', { description: 'Cuts its stream, and answers later', inputSchema: { ms } }, async (args, extra) => {
            extra.closeSSEStream?.();
            await setTimeout(args.ms);
            return text_result('after the cut');
        });
    }
    return server;
}

// With JSON for the answers, which is quicker than a stream for each: the SDK offers either, for a whole session.
async function serve_http() {
    const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
    const { InMemoryEventStore } = await import('@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js');
    const sessions = new Map();

    async function open_session() {
        const transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            enableJsonResponse: !in_events,
            eventStore: in_events ? new InMemoryEventStore() : undefined,
            retryInterval: 50,
            onsessioninitialized: id => sessions.set(id, transport),
            onsessionclosed: id => sessions.delete(id)
        });
        await create_server().connect(transport);
        const { onmessage } = transport;
        transport.onmessage = (message, extra) => {
            hear(message);
            onmessage(message, extra);
        };
        return transport;
    }

    http.listen(async (request, response) => {
        const id = request.headers['mcp-session-id'];
        const transport = id === undefined ? await open_session() : sessions.get(id);
        if (transport) await transport.handleRequest(request, response);
        else response.writeHead(404).end();
    });
}

if (http.port === undefined) {
    await create_server().connect(new StdioServerTransport());
    hear_stdin();
} else {
    await serve_http();
}
