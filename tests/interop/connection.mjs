// Connections of an SDK's client to a server process, with all that passes over them on record.
import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';

// What happened, in order, and a way to wait for it.
export class Journal {
    entries = [];
    #waiting = new Set();
    #closed = false;

    add(entry) {
        this.entries.push({ ...entry, index: this.entries.length, ns: process.hrtime.bigint() });
        for (const waiter of [...this.#waiting]) waiter(this.entries.at(-1));
    }

    // The first entry that matches, past or to come. Fails when the server is gone and it can come no more.
    first(what, matches) {
        const past = this.entries.find(matches);
        if (past) return Promise.resolve(past);
        const gone = () => new Error(`the server is gone, and there was no ${what}:\n${this.text()}`);
        if (this.#closed) return Promise.reject(gone());
        return new Promise((resolve, reject) => {
            const waiter = entry => {
                if (entry !== undefined && !matches(entry)) return;
                this.#waiting.delete(waiter);
                if (entry === undefined) reject(gone());
                else resolve(entry);
            };
            this.#waiting.add(waiter);
        });
    }

    close() {
        this.#closed = true;
        for (const waiter of [...this.#waiting]) waiter(undefined);
    }

    text() {
        return this.entries.map(({ from, line }) => `${from}: ${line}`).join('\n');
    }
}

function for_each_line(stream, take) {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    stream.on('data', chunk => {
        const lines = (rest + decoder.write(chunk)).split('\n');
        rest = lines.pop();
        lines.forEach(take);
    });
}

// A gateway's line of what a server behind it wrote to standard error; any other as it is.
function as_the_server_wrote_it(line) {
    const said = line.startsWith('{"time"') ? parsed(line) : undefined;
    return said?.event === 'stderr' ? said.message : line;
}

function parsed(line) {
    try {
        return JSON.parse(line);
    } catch {
        return undefined;
    }
}

function record_end(child, journal) {
    child.on('exit', (code, signal) => journal.add({ from: 'exit', line: `code ${code}, signal ${signal}`, code, signal }));
    child.on('close', () => journal.close());
}

class Connection {
    #sdk;
    #echoes = 0;

    // Where the marks of the server's tools do not come the same way as its messages, they are on a journal of their own.
    constructor(sdk, { marks, ...options }, transport, journal) {
        this.#sdk = sdk;
        this.client = sdk.create_client(options);
        this.transport = transport;
        this.journal = journal;
        this.marks = marks ?? journal;
        const send = transport.send;
        transport.send = (message, ...more) => {
            journal.add({ from: 'client', line: JSON.stringify(message), message });
            return send.call(transport, message, ...more);
        };
    }

    open(options) {
        return this.client.connect(this.transport, options);
    }

    close() {
        return this.client.close();
    }

    call(tool, args, options) {
        return this.#sdk.call_tool(this.client, tool, args, options);
    }

    mark(what, key) {
        return this.marks.first(`@${what} ${key}`, e => e.from === 'stderr' && e.line.startsWith(`@${what} ${key} `));
    }

    exit() {
        return this.journal.first('exit', e => e.from === 'exit');
    }

    // The request by which the client called a tool with that key.
    request(key) {
        return this.journal.first(
            `call with the key ${key}`,
            e => e.from === 'client' && e.message.method === 'tools/call' && e.message.params.arguments.key === key
        );
    }

    // An echo and its answer: what the client sent before it the server has read, what the server wrote before its
    // answer has been recorded. Returns the entry of the answer.
    async fence() {
        const text = `fence ${++this.#echoes}`;
        const result = await this.call('echo', { text });
        if (result.content[0].text !== text) throw new Error(`echo returned ${JSON.stringify(result)}`);
        return await this.journal.first(`answer to ${text}`, e => e.from === 'server' && e.line.includes(text));
    }

    // What the server wrote after that entry, apart from answers to fences.
    written_since({ index }) {
        return this.journal.entries
            .slice(index + 1)
            .filter(e => e.from === 'server' && !/"text":\s*"fence \d+"/.test(e.line))
            .map(e => e.line);
    }

    // What the server wrote to stdout that is no JSON.
    unreadable() {
        return this.journal.entries.filter(e => e.from === 'server' && e.message === undefined).map(e => e.line);
    }

    answers_to(id) {
        return this.journal.entries
            .filter(e => e.from === 'server' && e.message?.id === id && e.message.method === undefined)
            .map(e => e.line);
    }

    sent(method) {
        return this.journal.entries.filter(e => e.from === 'client' && e.message.method === method).map(e => e.message);
    }
}

// To a server of its own, on its standard input and output.
export class StdioConnection extends Connection {
    constructor(sdk, { command, Transport = sdk.StdioClientTransport, ...options }) {
        const transport = new Transport({
            command: command[0],
            args: command.slice(1),
            env: { ...process.env, ANDON_MARKS: '1' },
            stderr: 'pipe'
        });
        super(sdk, options, transport, new Journal());
        const { journal } = this;
        for_each_line(transport.stderr, line => journal.add({ from: 'stderr', line }));
        const start = transport.start;
        transport.start = async () => {
            await start.call(transport);
            const child = transport._process; // the transport shows neither the bytes nor the exit of its process
            for_each_line(child.stdout, line => journal.add({ from: 'server', line, message: parsed(line) }));
            record_end(child, journal);
            this.pid = child.pid;
        };
    }
}

// A program that says on standard error where it listens.
export class ListeningProgram {
    journal = new Journal();
    #child;

    constructor([program, ...args], env = {}) {
        this.#child = spawn(program, args, {
            env: { ...process.env, ANDON_MARKS: '1', ...env },
            stdio: ['ignore', 'ignore', 'pipe']
        });
        for_each_line(this.#child.stderr, line =>
            this.journal.add({ from: 'stderr', line: as_the_server_wrote_it(line) }));
        record_end(this.#child, this.journal);
    }

    async url() {
        const address = /listening on (http:[^\s"]+)/; // in words, or in JSON
        const { line } = await this.journal.first('address', e => e.from === 'stderr' && address.test(e.line));
        return new URL(address.exec(line)[1]);
    }

    // How it ended.
    async stop() {
        this.#child.kill('SIGTERM');
        const { code, signal } = await this.journal.first('exit', e => e.from === 'exit');
        return { code, signal };
    }
}

// A server over Streamable HTTP, on a port of its own.
export class HttpServer extends ListeningProgram {
    constructor(command, ...flags) {
        super([...command, '--http', '0', ...flags]);
    }
}

// What comes in events, or whole.
function record_body(response, journal) {
    const in_events = response.headers.get('content-type')?.startsWith('text/event-stream');
    const decoder = new StringDecoder('utf8');
    let rest = '';
    const add = line => line !== '' && journal.add({ from: 'server', line, message: parsed(line) });
    return new TransformStream({
        transform(chunk, out) {
            rest += decoder.write(Buffer.from(chunk));
            if (in_events) {
                const lines = rest.split('\n');
                rest = lines.pop();
                for (const line of lines) if (line.startsWith('data: ')) add(line.slice('data: '.length));
            }
            out.enqueue(chunk);
        },
        flush() {
            if (!in_events) add(rest);
        }
    });
}

// To such a server. Several clients of one server share its journal.
export class HttpConnection extends Connection {
    constructor(sdk, { server, url, transport_options, ...options }) {
        const { journal } = server;
        const recording_fetch = async (...request) => {
            const response = await fetch(...request);
            if (!response.body) return response;
            // Piped and not teed: when the client lets go of the body, so does the connection.
            const { status, statusText, headers } = response;
            return new Response(response.body.pipeThrough(record_body(response, journal)), { status, statusText, headers });
        };
        super(
            sdk,
            options,
            new sdk.StreamableHTTPClientTransport(url, { fetch: recording_fetch, ...transport_options }),
            journal
        );
    }
}
