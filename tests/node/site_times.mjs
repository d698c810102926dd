// Opens views of a large site and prints how many rows each shows, and after how many milliseconds
// the view was there. The times depend on the machine, so tests judge only the rows.
//
//   node site_times.mjs '{"chromium": PATH, "site": INDEX_HTML, "views": [...]}'
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { default: puppeteer } = createRequire(join(process.env.ASSAY_NODE_DIR, '/'))('puppeteer-core');
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader', '--no-zygote'];
const LOADED_MS = 60_000;

const setup = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({ executablePath: setup.chromium, args: FLAGS, headless: 'shell' });
const found = {};
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
for (const view of setup.views) {
    await page.goto('about:blank');
    await page.goto(`${pathToFileURL(setup.site).href}#/${view}`, { waitUntil: 'load', timeout: LOADED_MS });
    await page.waitForSelector('html[data-ready]', { timeout: LOADED_MS });
    found[view] = await page.evaluate(() => ({
        ms: Math.round(performance.now()),
        rows: document.querySelectorAll('main tbody tr').length,
        caption: document.querySelector('main caption')?.textContent ?? '',
        first: document.querySelector('main tbody tr')?.innerText ?? '',
    }));
}
await browser.close();
process.stdout.write(JSON.stringify(found));
