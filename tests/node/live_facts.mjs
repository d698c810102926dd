// Opens the page of a running server in headless Chromium as a visitor with a token, follows a bench
// until it is complete, and looks at the page on a desktop, on a phone and in dark.
// tests/e2e/site/test_live_site.py judges what this script prints.
//
//   node live_facts.mjs '{"chromium": PATH, "axe": FILE, "site": URL, "token": SECRET,
//                         "bench": [WORD, ...], "environment": {...}, "pictures": DIRECTORY or null}'
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { default: puppeteer } = createRequire(join(process.env.ASSAY_NODE_DIR, '/'))('puppeteer-core');

const WAIT_MS = 60_000;
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader', '--no-zygote'];
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };

const setup = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({ executablePath: setup.chromium, args: FLAGS, headless: 'shell' });
const page = await browser.newPage();
await page.setViewport(DESKTOP);
const heard = [];
page.on('request', (request) => request.url().startsWith(setup.site) || request.url().startsWith('data:') || heard.push(`request ${request.url()}`));
page.on('pageerror', (error) => heard.push(`error ${error}`));
page.on('console', (message) => heard.push(`console ${message.text()} ${message.location().url}`));
page.on('dialog', (dialog) => {
    heard.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
});
const found = { axe: {}, wide: {} };
const picture = (name) => setup.pictures && page.screenshot({ path: join(setup.pictures, `live-${name}.png`), fullPage: true });
const text = () => page.$eval('body', (body) => body.innerText);
const until = (condition, ...given) => page.waitForFunction(condition, { timeout: WAIT_MS, polling: 'mutation' }, ...given);

async function judge(name) {
    await page.evaluate(readFileSync(setup.axe, 'utf8'));
    const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], preload: false }));
    for (const { id, impact, nodes } of result.violations)
        if (impact === 'serious' || impact === 'critical') found.axe[`${name} ${id}`] = nodes.slice(0, 3).map((node) => node.html.slice(0, 200));
    found.wide[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await picture(name);
}

async function enter(token) {
    await page.$eval('#token', (input) => (input.value = ''));
    await page.type('#token', token);
    await page.keyboard.press('Enter');
}

await page.goto(setup.site, { waitUntil: 'load' });
await page.waitForSelector('#token', { timeout: WAIT_MS });
await judge('token');
await enter('assay_wrong');
await page.waitForSelector('[role=alert]', { timeout: WAIT_MS });
found.refused = await text();
found.refusedRequests = heard.splice(0).filter((line) => !line.includes('401'));
await enter(setup.token);
await page.waitForSelector('nav.views', { timeout: WAIT_MS });
await until(() => document.querySelector('[role=status]')?.textContent.startsWith('Connected'));
found.before = await text();

// A bench runs while the page is open.
const bench = spawn(setup.bench[0], setup.bench.slice(1), { env: setup.environment, stdio: ['ignore', 'ignore', 'pipe'] });
let said = '';
bench.stderr.on('data', (bytes) => (said += bytes));
const ended = new Promise((done) => bench.on('close', done));
await page.waitForSelector('#live-runs tbody a', { timeout: WAIT_MS });
await judge('desktop');
await until(() => document.querySelector('#live-runs tbody tr')?.innerText.includes('complete'));
found.bench = { status: await ended, said };
found.after = await text();

await page.click('#live-runs tbody a');
await until((operators) => document.querySelectorAll('#attempts tbody tr .result.pass').length === operators, setup.operators.length);
found.run = await text();
await judge('run');
await page.click('#attempts tbody th a');
await until(() => document.querySelector('main h2')?.textContent.startsWith('Attempt'));
found.attempt = await text();
await picture('attempt');

// The page of a run grows: it shows each submission before the next one is sent.
async function call(name, given) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json', Authorization: `Bearer ${setup.token}` };
    const answer = await fetch(`${setup.site}mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
    return (await answer.json()).result.structuredContent;
}
const { run } = await call('start_run', { agent: 'a', model: 'openai:m', track: 'one_shot', suite: setup.operators.join(',') });
await page.goto(`${setup.site}#/run/${run}`);
found.grown = [];
for (const operator of setup.operators) {
    await call('submit', { run, operator, code: '# fake: pass\n' });
    found.grown.push(operator);
    await until((count) => document.querySelectorAll('#attempts .result.pass').length === count, found.grown.length);
    await until((count) => document.querySelector('main progress')?.value === count, found.grown.length);
}
await page.goto(`${setup.site}#/live`);
for (const [name, viewport, scheme] of [['phone', PHONE, 'light'], ['dark', DESKTOP, 'dark']]) {
    await page.setViewport(viewport);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.waitForSelector('#live-runs tbody a', { timeout: WAIT_MS });
    await judge(name);
}
// A visitor who forgets the token is asked again.
const reloaded = page.waitForNavigation({ timeout: WAIT_MS });
await page.$eval('.bar button:last-child', (button) => button.click());
await reloaded;
await page.waitForSelector('#token', { timeout: WAIT_MS });
found.forgot = await page.evaluate(() => sessionStorage.length);
found.heard = heard.filter((line) => !line.includes('401'));
await browser.close();
process.stdout.write(JSON.stringify(found));
