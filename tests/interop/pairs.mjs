// Every pair of a client in the official TypeScript SDKs and a server that `andon wrap` or `andon gateway` joins.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v1 from '../../peers/typescript/v1_client.mjs';
import * as v2 from '../../peers/typescript/v2_client.mjs';
import { HttpConnection, Journal, ListeningProgram, StdioConnection } from './connection.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const andon = process.env.ANDON_COMMAND ?? `${root}build/bin/andon`;
const everything_server = process.env.ANDON_SERVER ?? `${root}build/bin/everything_server`;
const peers = `${root}peers/typescript`;
const both = ['legacy', 'modern'];

// A client whose transport is not exactly the SDK's probes the era on its one process, and not on another one first.
class InPlaceTransport extends v2.StdioClientTransport {}

// stdio clients get `andon wrap`, the others `andon gateway`.
const clients = [
    { name: 'v1', sdk: v1, speaks: ['legacy'], sends_cancel_at_maximum: true },
    { name: 'v2 legacy', sdk: v2, speaks: ['legacy'] },
    {
        name: 'v2 negotiating',
        sdk: v2,
        speaks: both,
        options: { versionNegotiation: { mode: 'auto' } },
        on_stdio: { Transport: InPlaceTransport }
    }
].flatMap(client => ['stdio', 'http'].map(transport => ({ ...client, transport })));

// behind: by a command, or by a URL. What a server cannot do is the SDK's doing:
// - threads: false: a handler that blocks holds up everybody.
// - asks, tells: false: without sessions there is no way to ask a legacy client something, or to tell it of a change.
// - progresses: false: an answer that is one JSON text has no room for progress.
// - hears: it marks the cancels that come over the wire.
const servers = [
    { name: 'everything_server', command: [everything_server], speaks: both, threads: true, children: true },
    { name: 'everything_server --era legacy', command: [everything_server, '--era', 'legacy'], speaks: ['legacy'], threads: true },
    { name: 'everything_server --era modern', command: [everything_server, '--era', 'modern'], speaks: ['modern'], threads: true },
    { name: 'TypeScript v1', command: ['node', `${peers}/v1_server.mjs`], speaks: ['legacy'], hears: true, over_http: { progresses: false } },
    {
        name: 'TypeScript v1 in events',
        command: ['node', `${peers}/v1_server.mjs`],
        env: { ANDON_EVENTS: '1' },
        speaks: ['legacy'],
        hears: true,
        only: 'url'
    },
    {
        name: 'TypeScript v2',
        command: ['node', `${peers}/v2_server.mjs`],
        speaks: both,
        hears: true,
        over_http: { without_sessions: true }
    }
];

// Has tools of its own.
const reference_server = {
    name: 'server-everything',
    command: ['node', `${peers}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`],
    http_command: ['node', `${peers}/everything_http.mjs`],
    speaks: ['legacy']
};

const by_command_and_url = servers =>
    servers
        .flatMap(server => ['command', 'url'].map(behind => ({ ...server, behind, ...(behind === 'url' && server.over_http) })))
        .filter(({ only, behind }) => only === undefined || only === behind);

class Pair {
    constructor(client, server) {
        const { speaks } = client;
        this.client = client;
        this.server = server;
        this.over_http = client.transport === 'http';
        // wrap translates nothing: there both must speak alike. In front of a gateway every client speaks its newest.
        const common = speaks.filter(era => server.speaks.includes(era));
        this.era = this.over_http ? speaks.at(-1) : common.at(-1);
        this.server_era = server.speaks.includes(this.era) ? this.era : server.speaks[0];
        this.is_legacy = this.era === 'legacy';
        this.is_translated = this.server_era !== this.era;
        this.name = `${client.name} ${client.transport} > ${this.front} > ${server.name} ${server.behind === 'url' ? 'http' : 'stdio'}`;
        const server_has_no_session = server.without_sessions && this.server_era === 'legacy';
        this.asks = !this.is_translated && !server_has_no_session;
        this.tells = !server_has_no_session;
        this.progresses = server.progresses !== false;
        // Under 2026-07-28 the end of the stream is all that cancels over HTTP.
        this.cancels_by_stream = this.over_http && !this.is_legacy;
        // Without a session a log message that comes apart from the answer may come too late to belong to a request.
        this.logs = this.tells && (this.is_legacy || this.progresses);
        this.server_hears = server.hears && !(server.behind === 'url' && this.server_era === 'modern');
        this.is_possible = this.era !== undefined;
    }

    get front() {
        return this.over_http ? 'gateway' : 'wrap';
    }
}

const pairs_with = servers =>
    clients.flatMap(client => by_command_and_url(servers).map(server => new Pair(client, server)));
export const pairs = pairs_with(servers);
export const pairs_with_reference_server = pairs_with([reference_server]);

// The programs behind and between, each started when a pair first needs it, and shared where that hides nothing: a
// gateway by its clients, a server behind a URL by all that speak to it.
export class Programs {
    #folder = mkdtempSync(join(tmpdir(), 'andon-relayed-'));
    #started = new Map();
    #env = { ANDON_RUNTIME_DIR: join(this.#folder, 'run'), ANDON_STATE_DIR: join(this.#folder, 'state') };

    constructor() {
        Object.assign(process.env, this.#env);
    }

    #program(name, command, env) {
        if (!this.#started.has(name)) this.#started.set(name, new ListeningProgram(command, env));
        return this.#started.get(name);
    }

    async #behind({ name, command, http_command = [...command, '--http', '0'], env, behind }) {
        if (behind === 'command') return { args: ['--', ...command] };
        const program = this.#program(name, http_command, env);
        return { args: ['--url', String(await program.url())], marks: program.journal };
    }

    // A client of the pair, which can be opened through andon, which is given these flags too.
    async client({ client, server, over_http }, { flags = [], ...options } = {}) {
        const { sdk } = client;
        const { args, marks } = await this.#behind(server);
        if (!over_http) {
            const command = [andon, 'wrap', ...flags, ...args];
            return new StdioConnection(sdk, { command, marks, ...client.options, ...client.on_stdio, ...options });
        }
        const gateway = this.#program(
            ['gateway', ...flags, ...args].join(' '),
            [andon, 'gateway', '--port', '0', ...flags, ...args]
        );
        return new HttpConnection(sdk, {
            server: { journal: new Journal() },
            url: await gateway.url(),
            marks: marks ?? gateway.journal,
            ...client.options,
            ...options
        });
    }

    async open(pair, options) {
        const c = await this.client(pair, options);
        await c.open();
        return c;
    }

    // How those ended that ended in another way than they should.
    async stop() {
        const ends = await Promise.all(
            [...this.#started].map(async ([name, program]) => ({ name, ...(await program.stop()) }))
        );
        rmSync(this.#folder, { recursive: true });
        return ends.filter(({ name, code, signal }) => code !== 0 && (name.startsWith('gateway') || signal !== 'SIGTERM'));
    }
}
