// Opens every view of a site in headless Chromium, as it looks on a desktop, on a phone and on
// paper, in light and dark, and uses the pages as a visitor does. tests/e2e/site/test_site.py judges what
// this script prints.
//
//   node site_facts.mjs '{"chromium": PATH, "axe": FILE, "site": INDEX_HTML, "views": [...],
//                         "pictures": DIRECTORY or null}'
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { default: puppeteer } = createRequire(join(process.env.ASSAY_NODE_DIR, '/'))('puppeteer-core');

const LOADED_MS = 30_000;
// Chromium's sandbox does not work for root in a container. The sandbox is not needed, because this
// Chromium opens only Assay's own pages.
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader', '--no-zygote'];
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
// The policy of the page is off on the phone, because it would hide text that was not escaped.
const LOOKS = {
    desktop: { viewport: DESKTOP, media: 'screen', scheme: 'light' },
    dark: { viewport: DESKTOP, media: 'screen', scheme: 'dark' },
    phone: { viewport: PHONE, media: 'screen', scheme: 'light', withoutPolicy: true },
    print: { viewport: { width: 794, height: 1123 }, media: 'print', scheme: 'dark' },
};

const setup = JSON.parse(process.argv[2]);
const site = pathToFileURL(setup.site).href;
const axe = readFileSync(setup.axe, 'utf8');

async function newPage(browser, { viewport, media, scheme, withoutPolicy }, heard) {
    const page = await browser.newPage();
    page.on('request', (request) => request.url().startsWith('file:') || request.url().startsWith('blob:') || heard.push(`request ${request.url()}`));
    page.on('requestfailed', (request) => heard.push(`failed ${request.url()}`));
    page.on('console', (message) => heard.push(`console ${message.text()}`));
    page.on('pageerror', (error) => heard.push(`error ${error}`));
    page.on('dialog', async (dialog) => {
        heard.push(`dialog ${dialog.message()}`);
        await dialog.dismiss();
    });
    if (withoutPolicy) await page.setBypassCSP(true);
    await page.setViewport(viewport);
    const session = await page.createCDPSession();
    await session.send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
    return page;
}

/// Opens a view by its link, as from another site.
async function open(page, view) {
    await page.goto('about:blank');
    await page.goto(`${site}#/${view}`, { waitUntil: 'load', timeout: LOADED_MS });
    await page.waitForSelector('html[data-ready]', { timeout: LOADED_MS });
}

/// Waits until the view of the current address is shown.
const settled = (page) => page.waitForSelector('main:not([aria-busy])', { timeout: LOADED_MS });

const facts = () => ({
    title: document.title,
    injected: window.injected ?? null,
    elements: [...new Set([...document.querySelectorAll('main *')].map((element) => element.localName))],
    width: innerWidth,
    scrollWidth: document.documentElement.scrollWidth,
    paper: getComputedStyle(document.body).backgroundColor,
    text: document.body.innerText,
    charts: [...document.querySelectorAll('svg[role=img]')].map((svg) => svg.getAttribute('aria-label')),
    tables: [...document.querySelectorAll('main table')].map((table) => ({
        id: table.id,
        name: table.caption?.textContent ?? table.getAttribute('aria-label') ?? '',
        unscoped: table.querySelectorAll('th:not([scope])').length,
        downloads: table.closest('.table, section, figure')?.querySelectorAll('[data-download]').length ?? 0,
    })),
    unnamedScrollers: [...document.querySelectorAll('main .wide')].filter((box) => box.tabIndex < 0 || !box.getAttribute('aria-label')).length,
});

const browser = await puppeteer.launch({ executablePath: setup.chromium, args: FLAGS, headless: 'shell' });
const found = { browser: await browser.version(), looks: {}, axe: {}, visitor: {} };

for (const [name, look] of Object.entries(LOOKS)) {
    found.looks[name] = {};
    const heard = [];
    const page = await newPage(browser, look, heard);
    // Colours and paper are the same in all views, so a few views are enough for them.
    const views = name === 'desktop' || name === 'phone' ? setup.views : setup.views.filter((_, at) => at % 4 === 0);
    for (const view of views) {
        await open(page, view);
        found.looks[name][view] = { heard: heard.splice(0), ...(await page.evaluate(facts)) };
        if (setup.pictures) await page.screenshot({ path: join(setup.pictures, `${name}-${view.replace(/[^a-z0-9]+/gi, '_')}.png`), fullPage: true });
        if (name !== 'desktop' && name !== 'dark') continue;
        await page.evaluate(axe);
        const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], preload: false }));
        for (const { id, impact, nodes } of result.violations)
            if (impact === 'serious' || impact === 'critical')
                (found.axe[`${name} ${view}`] ??= []).push([id, nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]);
        found.looks[name][view].heard.push(...heard.splice(0));
    }
    await page.close();
}

// A visitor sorts, switches tabs, filters, follows links, compares and downloads.
const heard = [];
const page = await newPage(browser, LOOKS.desktop, heard);
const column = (id, at) => page.$$eval(`#${id} tbody tr`, (rows, i) => rows.map((row) => row.cells[i].innerText.trim()), at);
const press = async (selector) => {
    const before = page.url();
    await page.click(selector);
    await page.waitForFunction((url) => location.href !== url, { timeout: LOADED_MS }, before);
    await page.waitForFunction(() => new Promise((done) => requestAnimationFrame(() => done(true))));
    await settled(page);
};
const visitor = found.visitor;
await open(page, 'leaderboard');
visitor.models = await column('leaderboard', 0);
visitor.ranks = await column('leaderboard', 1);
await press('#leaderboard thead th:nth-child(3) a');
visitor.sortedAgain = { models: await column('leaderboard', 0), ranks: await column('leaderboard', 1), sort: await page.$eval('#leaderboard th[aria-sort]', (head) => head.getAttribute('aria-sort')) };
await press('nav[aria-label=Split] a:last-child');
visitor.split = { url: page.url(), text: await page.$eval('main', (main) => main.innerText) };
const other = await newPage(browser, LOOKS.desktop, heard);
await other.goto(page.url(), { waitUntil: 'load' });
await other.waitForSelector('html[data-ready]');
visitor.linked = await other.$eval('main', (main) => main.innerText);
await other.close();
await press('nav.views a[data-view=operators]');
visitor.keptSplit = page.url();
await press('#matrix tbody tr th a');
visitor.operatorPage = await page.title();
await open(page, 'compare?a=0&b=1');
visitor.compared = await page.$eval('main', (main) => main.innerText);
await open(page, 'fast-p?p=1');
visitor.fast = await page.$$eval('#fastp tbody tr', (rows) => rows.map((row) => row.innerText));
await page.$eval('#p', (slider) => {
    slider.value = '0.5';
    slider.dispatchEvent(new Event('input'));
    slider.dispatchEvent(new Event('change'));
});
await page.waitForFunction(() => location.hash.includes('p=0.5'));
await settled(page);
visitor.fastLower = await page.$$eval('#fastp tbody tr', (rows) => rows.map((row) => row.innerText));
await open(page, 'leaderboard');
await page.evaluate(() => {
    window.saved = [];
    URL.createObjectURL = (blob) => {
        blob.text().then((text) => window.saved.push(text));
        return 'blob:none';
    };
    HTMLAnchorElement.prototype.click = () => undefined;
});
await page.click('[data-download=csv]');
await page.click('[data-download=json]');
await page.waitForFunction(() => window.saved.length === 2);
visitor.saved = await page.evaluate(() => window.saved);
await open(page, 'leaderboard');
await page.keyboard.press('Tab');
visitor.firstFocus = await page.evaluate(() => document.activeElement.textContent);
await page.keyboard.press('Enter');
visitor.skipped = await page.evaluate(() => document.activeElement.id);
visitor.heard = heard;
await browser.close();
process.stdout.write(JSON.stringify(found));
