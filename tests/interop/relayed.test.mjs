// Every rule again, through `andon wrap` and `andon gateway`: clients and servers in the official TypeScript SDKs and our
// own, in all pairs of transport and era. pairs.mjs has the table, relayed_rules.mjs what holds for its rows.
// ANDON_COMMAND and ANDON_SERVER name another andon, and another everything_server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Programs, pairs } from './pairs.mjs';
import { end_rules, rules, time_rules } from './relayed_rules.mjs';
import { Questions } from './questions.mjs';

const limit = { timeout: 10_000 };
const programs = new Programs();

describe('relayed', { concurrency: 8 }, () => {
    after(async () => assert.deepEqual(await programs.stop(), []));

    for (const pair of pairs.filter(({ is_possible }) => is_possible)) {
        describe(pair.name, { concurrency: 1 }, () => {
            const questions = new Questions();
            const client = () => programs.client(pair, questions.answers());
            const open = () => programs.open(pair, questions.answers());
            let c;
            before(async () => (c = await open()));
            after(() => c?.close());

            const prove = rules => {
                for (const { name, when, body } of rules) {
                    if (when(pair)) it(name, limit, t => body(c, { t, pair, client, open, questions }));
                }
            };
            prove(rules);
            describe('time limits', { concurrency: 3 }, () => prove(time_rules));
            prove(end_rules);
        });
    }

    for (const pair of pairs.filter(({ is_possible }) => !is_possible)) {
        it(`${pair.name}: is refused, and says why`, limit, async () => {
            await assert.rejects(programs.open(pair), /2026-07-28|nsupported protocol version/);
        });
    }
});
