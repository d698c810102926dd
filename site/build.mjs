// Bundles the site into site/dist: index.html, site.js and site.css for a folder, page.html for
// a page that is a single file, and live.html for a server. site/build.sh runs this script.
//
//   node build.mjs NODE_MODULES
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = resolve(process.argv[2]);
const esbuild = createRequire(join(modules, '/'))('esbuild');

// Plot puts a style element into each chart, so styles are not limited to files. Scripts are. The
// last two rules make the browser refuse a text that is parsed as HTML, and every script element
// that does not come from the data's policy.
const policy = (script, more = '') =>
    `default-src 'none'; script-src ${script}; ${more}style-src 'self' 'unsafe-inline'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types assay-data";

const built = await esbuild.build({
    entryPoints: [join(here, 'src/main.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    nodePaths: [modules],
    write: false,
});
// A page that is a single file has the script inside a script element, which "</script" would end.
const script = built.outputFiles[0].text.replaceAll('</script', '<\\/script');
const style = (await esbuild.build({ entryPoints: [join(here, 'src/site.css')], minify: true, write: false })).outputFiles[0].text;
const template = readFileSync(join(here, 'src/index.html'), 'utf8');
const fill = (parts) => template.replace(/@([A-Z]+)@/g, (_, name) => parts[name]);
const hash = createHash('sha256').update(script).digest('base64');

const target = join(here, 'dist');
const fresh = join(here, 'dist.new');
rmSync(fresh, { recursive: true, force: true });
mkdirSync(fresh);
writeFileSync(join(fresh, 'site.js'), script);
writeFileSync(join(fresh, 'site.css'), style);
writeFileSync(
    join(fresh, 'index.html'),
    fill({
        POLICY: policy("'self'"),
        STYLE: '<link rel="stylesheet" href="assets/site.css" />',
        SCRIPT: '<script src="assets/site.js"></script>',
    }),
);
// The page of a server reads its data with fetch(), because a script element cannot send a token.
writeFileSync(
    join(fresh, 'live.html'),
    fill({
        POLICY: policy("'self'", "connect-src 'self'; "),
        STYLE: '<meta name="assay-live" content="live/" />\n    <link rel="stylesheet" href="assets/site.css" />',
        SCRIPT: '<script src="assets/site.js"></script>',
    }),
);
writeFileSync(
    join(fresh, 'page.html'),
    fill({
        POLICY: policy(`'sha256-${hash}'`),
        STYLE: `<style>${style}</style>`,
        SCRIPT: `<script type="application/json" id="assay-data">@ASSAY_DATA@</script>\n    <script>${script}</script>`,
    }),
);
rmSync(target, { recursive: true, force: true });
renameSync(fresh, target);
