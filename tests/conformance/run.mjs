// Runs the official conformance suites and judges what they found: run.mjs server|client|all
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const programs = process.env.ANDON_PROGRAMS ?? 'build/bin';
const results_in = join('build', 'conformance');
const at_once = 4;

const suites = [
  { folder: 'conformance-0.1', revisions: ['2025-11-25'] },
  { folder: 'conformance-0.2', revisions: ['2025-11-25', '2026-07-28'] },
].map((suite) => {
  const root = join(here, 'node_modules', suite.folder);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return { ...suite, version, main: join(root, 'dist', 'index.js') };
});

// What belongs to none of these revisions: extensions, drafts, older ones. No revision requires it.
const other = 'other';

function run_suite(suite, args, environment = {}) {
  return new Promise((resolve) => {
    const options = { maxBuffer: 1 << 28, timeout: 300_000, env: { ...process.env, ...environment } };
    execFile(process.execPath, [suite.main, ...args], options, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: stdout + stderr });
    });
  });
}

async function list(suite, side, more) {
  const { ok, output } = await run_suite(suite, ['list', `--${side}`, ...more]);
  const names = [...output.matchAll(/^ {2}- (\S+)/gm)].map((found) => found[1]);
  if (!ok || names.length === 0) throw new Error(`${suite.version} lists no scenarios:\n${output}`);
  return names;
}

/** The scenarios by revision, with what belongs to none of them at the end. */
async function groups_of(suite, side) {
  const rest = new Set(await list(suite, side, []));
  const groups = [];
  for (const revision of suite.revisions) {
    const names = await list(suite, side, ['--spec-version', revision]);
    names.forEach((name) => rest.delete(name));
    groups.push({ side, suite, revision, names });
  }
  if (rest.size > 0) groups.push({ side, suite, revision: other, names: [...rest] });
  return groups.map((group) => ({ ...group, folder: join(results_in, `${side}-${suite.version}-${group.revision}`) }));
}

async function run_group({ suite, revision, names, folder }, args, environment) {
  const all = [...args, '-o', folder];
  if (revision !== other) {
    return run_suite(suite, [...all, '--suite', 'all', '--spec-version', revision], environment);
  }
  const left = [...names];
  const work = async () => {
    while (left.length > 0) await run_suite(suite, [...all, '--scenario', left.shift()], environment);
  };
  await Promise.all(Array.from({ length: at_once }, work));
}

/** What the suite has written of one scenario, in a folder named by the scenario and the time. */
function checks_of(folder, scenario) {
  const parent = join(folder, dirname(scenario));
  const wanted = new RegExp(`^(server-)?${scenario.split('/').at(-1)}-\\d{4}-\\d\\d-\\d\\dT`);
  try {
    const found = readdirSync(parent).filter((entry) => wanted.test(entry));
    return JSON.parse(readFileSync(join(parent, found.at(-1), 'checks.json'), 'utf8'));
  } catch {
    return [];
  }
}

async function start_server() {
  const server = spawn(join(programs, 'everything_server'), ['--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = [];
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      said.push(line);
      const found = /^listening on (http\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
    server.on('error', reject);
    server.on('exit', () => reject(new Error(`everything_server has ended:\n${said.join('\n')}`)));
  });
  return { url, alive: () => server.exitCode === null && server.signalCode === null, stop: () => server.kill() };
}

async function test_server(group, judge) {
  mkdirSync(group.folder, { recursive: true });
  const server = await start_server();
  try {
    await run_group(group, ['server', '--url', server.url]);
    for (const name of group.names) judge(group, name, checks_of(group.folder, name), server.alive());
  } finally {
    server.stop();
  }
}

async function test_client(group, judge) {
  const ended = join(group.folder, 'ended');
  mkdirSync(ended, { recursive: true });
  await run_group(group, ['client', '--command', 'tests/conformance/client.sh'],
    { ANDON_PROGRAMS: programs, ANDON_ENDED: ended });
  const ended_well = (name) => {
    try {
      return readFileSync(join(ended, name.split('/').at(-1)), 'utf8').trim() === '0';
    } catch {
      return false; // it never came to its end
    }
  };
  for (const name of group.names) judge(group, name, checks_of(group.folder, name), ended_well(name));
}

function read_expected() {
  const pattern = (text) =>
    new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
  const lines = readFileSync(join(here, 'expected_failures.txt'), 'utf8').split('\n');
  return lines.filter((line) => line.trim() && !line.startsWith('#')).map((line) => {
    const [, side, scenario, reason] = /^(server|client)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
    if (!side) throw new Error(`expected_failures.txt: not understood: ${line}`);
    return { line, side, scenario: pattern(scenario), reason, scenarios: 0, checks: 0 };
  });
}

const expected = read_expected();
const totals = new Map();
const wrong = [];

/** Warnings count as failures, and so do a scenario that has checked nothing and a client that ends with an error. */
function judge({ side, suite, revision }, scenario, checks, ended_well) {
  const passed = checks.filter((check) => check.status === 'SUCCESS').length;
  const failed = checks.filter((check) => ['FAILURE', 'WARNING'].includes(check.status));
  const good = passed > 0 && failed.length === 0 && ended_well;
  const known = expected.find((each) => each.side === side && each.scenario.test(scenario));
  const as_told = good === (known === undefined);

  const counts = passed + failed.length > 0 ? `${passed} passed, ${failed.length} failed` : 'nothing was checked';
  const verdict = as_told ? (good ? 'ok' : `expected: ${known.reason}`) : good ? 'PASSES, UNEXPECTEDLY' : 'FAILED';
  const group = `${side} ${suite.version} ${revision}`;
  console.log(`${group} ${scenario}: ${counts}${ended_well || known ? '' : ', ended badly'}: ${verdict}`);
  if (!as_told) {
    failed.forEach((check) => console.log(`    ${check.id}: ${check.errorMessage ?? check.description}`));
    wrong.push(`${group} ${scenario}: ${verdict}`);
  }
  if (known) {
    known.scenarios += 1;
    known.checks += failed.length;
  }
  const total = totals.get(group) ?? { scenarios: 0, passed: 0, failed: 0 };
  totals.set(group, total);
  total.scenarios += 1;
  total.passed += passed;
  total.failed += failed.length;
}

const asked = process.argv[2] ?? 'all';
const sides = asked === 'all' ? ['server', 'client'] : [asked];
rmSync(results_in, { recursive: true, force: true });
for (const side of sides) {
  for (const suite of suites) {
    for (const group of await groups_of(suite, side)) {
      await (side === 'server' ? test_server : test_client)(group, judge);
    }
  }
}

console.log('');
for (const each of expected.filter((entry) => sides.includes(entry.side))) {
  if (each.scenarios === 0) wrong.push(`expected_failures.txt: nothing fits: ${each.line}`);
  console.log(`expected of the ${each.side}: ${each.checks} failed in ${each.scenarios} scenarios: ${each.reason}`);
}
for (const [group, { scenarios, passed, failed }] of totals) {
  console.log(`${group}: ${scenarios} scenarios, ${passed} checks passed, ${failed} failed`);
}
const all_passed = [...totals.values()].reduce((sum, { passed }) => sum + passed, 0);
const summary = `conformance: ${all_passed} checks passed, ${wrong.length} scenarios not as expected`;
console.log(summary);
writeFileSync(join(results_in, 'summary.txt'), `${summary}\n`);
wrong.forEach((line) => console.log(`WRONG: ${line}`));
process.exit(wrong.length > 0 ? 1 : 0);
