// Every rule again, through `andon wrap` and `andon gateway`: clients and servers in the official TypeScript SDKs and our
// own, in all pairs of transport and era. pairs.mjs has the table, relayed_rules.mjs what holds for its rows.
// ANDON_COMMAND and ANDON_SERVER name another andon, and another everything_server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Programs, pairs, pairs_with_reference_server } from './pairs.mjs';
import { end_rules, reference_server_rules, rules, time_rules } from './relayed_rules.mjs';
import { Questions } from './questions.mjs';

const limit = { timeout: 30_000 };
const programs = new Programs();

describe('relayed', { concurrency: 6 }, () => {
    after(async () => assert.deepEqual(await programs.stop(), []));

    function in_pair(pair, body) {
        describe(pair.name, { concurrency: 1 }, () => {
            const questions = new Questions();
            const client = options => programs.client(pair, { ...questions.answers(), ...options });
            const open = options => programs.open(pair, { ...questions.answers(), ...options });
            let c;
            before(async () => (c = await open()));
            after(() => c?.close());

            body(rules => {
                for (const { name, when, body } of rules) {
                    if (when(pair)) it(name, limit, t => body(c, { t, pair, client, open, questions }));
                }
            });
        });
    }

    for (const pair of pairs.filter(({ is_possible }) => is_possible)) {
        in_pair(pair, prove => {
            prove(rules);
            describe('time limits', { concurrency: true }, () => prove(time_rules));
            prove(end_rules);
        });
    }
    for (const pair of pairs_with_reference_server) in_pair(pair, prove => prove(reference_server_rules));

    for (const pair of pairs.filter(({ is_possible }) => !is_possible)) {
        it(`${pair.name}: is refused, and says why`, limit, async () => {
            await assert.rejects(programs.open(pair), /2026-07-28|nsupported protocol version/);
        });
    }
});
