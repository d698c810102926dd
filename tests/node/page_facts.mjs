// Measures a report page in headless Chromium, as it looks on a phone, on a desktop (light and dark)
// and on paper. tests/e2e/test_report_page.py judges the measurements.
//
//   node page_facts.mjs '{"chromium": PATH, "page": FILE, "pictures": DIRECTORY or null}'
//
// Prints {"phone": {...}, "desktop": {...}, ...}.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { measure } from './page_measure.mjs';

const { default: puppeteer } = createRequire(join(process.env.ASSAY_NODE_DIR, '/'))('puppeteer-core');

const LOADED_MS = 30_000;
// Chromium's sandbox does not work for root in a container. The sandbox is not needed, because this
// Chromium opens only Assay's own pages.
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader', '--no-zygote'];
const A4 = { width: 794, height: 1123 }; // pixels at 96 dots per inch
const LOOKS = {
    phone: { viewport: { width: 360, height: 800, deviceScaleFactor: 2, isMobile: true, hasTouch: true }, media: 'screen', scheme: 'light' },
    'phone dark': { viewport: { width: 360, height: 800, deviceScaleFactor: 2, isMobile: true, hasTouch: true }, media: 'screen', scheme: 'dark' },
    desktop: { viewport: { width: 1280, height: 900 }, media: 'screen', scheme: 'light' },
    dark: { viewport: { width: 1280, height: 900 }, media: 'screen', scheme: 'dark' },
    // A page that is printed from a dark desktop must also be black on white.
    print: { viewport: A4, media: 'print', scheme: 'dark' },
};

/// Opens the page once. Returns its requests, its console messages and its measured appearance. The
/// page's content security policy is off, because it would hide text that was not escaped.
async function look(browser, url, { viewport, media, scheme }, picture) {
    const page = await browser.newPage();
    const heard = { requests: [], console: [], errors: [], dialogs: [] };
    page.on('request', (request) => request.url() === url || heard.requests.push(request.url()));
    page.on('console', (message) => heard.console.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => heard.errors.push(String(error)));
    page.on('dialog', async (dialog) => {
        heard.dialogs.push(dialog.message());
        await dialog.dismiss();
    });
    await page.setBypassCSP(true);
    await page.setViewport(viewport);
    // Sets the media type and the colour scheme in one command. Puppeteer has a function for each,
    // but each function resets the effect of the other.
    const session = await page.createCDPSession();
    await session.send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
    await page.goto(url, { waitUntil: 'networkidle0', timeout: LOADED_MS });
    const facts = await page.evaluate(measure);
    if (picture) {
        await page.screenshot({ path: `${picture}.png`, fullPage: true });
        if (media === 'print') await page.pdf({ path: `${picture}.pdf`, format: 'A4', printBackground: false });
    }
    await page.close();
    return { ...heard, ...facts };
}

/// Opens the page with its content security policy, as a visitor does. Returns the browser's
/// messages about what the policy refuses. A good page causes no message.
async function policyComplaints(browser, url) {
    const page = await browser.newPage();
    const complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    await page.goto(url, { waitUntil: 'networkidle0', timeout: LOADED_MS });
    await page.close();
    return complaints;
}

const setup = JSON.parse(process.argv[2]);
const url = pathToFileURL(setup.page).href;
const browser = await puppeteer.launch({ executablePath: setup.chromium, args: FLAGS, headless: 'shell' });
try {
    const facts = { browser: await browser.version(), policy: await policyComplaints(browser, url), looks: {} };
    for (const [name, how] of Object.entries(LOOKS)) {
        facts.looks[name] = await look(browser, url, how, setup.pictures && join(setup.pictures, name.replace(' ', '_')));
    }
    process.stdout.write(JSON.stringify(facts));
} finally {
    await browser.close();
}
