// A server in the TypeScript SDK v2 (@modelcontextprotocol/server), for the legacy revisions and for 2026-07-28: on stdio,
// or with `--http PORT [TOOL...]` over Streamable HTTP, stateless for every revision.
import { McpServer, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import * as http from './http.mjs';
import { ask, contents, hear, hear_stdin, marking, start, telling_tool_names, telling_tools, text_result, tools } from './tools.mjs';

// Made once: over HTTP every request has a server of its own.
const offered = Object.entries(tools)
    .filter(([name]) => http.wanted(name))
    .map(([name, { description, input, run }]) => ({ name, run, config: { description, inputSchema: z.object(input) } }));
const ask_config = { description: ask.description, inputSchema: z.object(ask.input) };

function progress_of({ _meta, notify }) {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return async () => {};
    return async (progress, total) =>
        await notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
}

// Over HTTP nobody but the handler of all requests knows who listens.
let notifier;

function add_contents(server) {
    const subscribed = new Set();
    server.server.setRequestHandler('resources/subscribe', ({ params }) => (subscribed.add(params.uri), {}));
    server.server.setRequestHandler('resources/unsubscribe', ({ params }) => (subscribed.delete(params.uri), {}));
    const is_modern = () => server.server.getNegotiatedProtocolVersion() === '2026-07-28';
    const changed = {
        tools: () => (notifier ? notifier.toolsChanged() : server.server.sendToolListChanged()),
        resource: uri => {
            if (notifier) notifier.resourceUpdated(uri);
            else if (is_modern() || subscribed.has(uri)) return server.server.sendResourceUpdated({ uri });
        }
    };
    for (const name of telling_tool_names) {
        server.registerTool(name, {}, async ({ mcpReq }) => {
            await telling_tools({ log: mcpReq.log, changed })[name]();
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
        { name: 'andon-peer-typescript-v2', version: '1.0.0' },
        { capabilities: { logging: {}, resources: { subscribe: true } } }
    );
    if (http.wanted('contents')) add_contents(server);

    for (const { name, run, config } of offered) {
        server.registerTool(name, config, async (args, { mcpReq }) =>
            text_result(await run(args, { signal: mcpReq.signal, progress: progress_of(mcpReq) }))
        );
    }

    // Under 2026-07-28 the client answers by calling again; under a legacy revision the SDK sends the request itself
    // and then calls this handler again.
    if (http.wanted('ask')) {
        server.registerTool('ask', ask_config, async ({ key }, { mcpReq }) => {
            const answer = inputResponse(mcpReq.inputResponses, 'colour');
            if (answer.kind === 'sampling') return text_result(answer.result.content.text);
            start(key, mcpReq.signal);
            return inputRequired({ inputRequests: { colour: inputRequired.createMessage(ask.sampling) } });
        });
    }
    return server;
}

// The SDK's default answers with JSON, and opens a stream when a handler has something to say before its result.
async function serve_http() {
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = await import('@modelcontextprotocol/node');
    const handler = createMcpHandler(create_server);
    notifier = handler.notify;
    // The SDK stops a legacy call by the signal of a copy of its request, and that signal falls silent as soon as node
    // collects its garbage. For calls that are to be seen to stop, a copy has the signal of the request itself.
    const kept = new Set();
    const fetch = (request, options) => {
        if (request.body) request.clone().json().then(hear, () => {});
        const { clone } = request;
        request.clone = () => Object.defineProperty(clone.call(request), 'signal', { value: request.signal });
        kept.add(request);
        return handler.fetch(request, options);
    };
    const handle = toNodeHandler(marking ? { fetch } : handler);
    const host_is_ours = localhostHostValidation();
    const origin_is_ours = localhostOriginValidation();
    http.listen((request, response) => {
        if (host_is_ours(request, response) && origin_is_ours(request, response)) return handle(request, response);
    });
}

if (http.port === undefined) {
    serveStdio(create_server);
    hear_stdin();
} else {
    await serve_http();
}
