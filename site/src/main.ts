// Shows the view that the address names, and the navigation.
import type { View } from './context';
import { listen, loadIndex } from './data';
import { h, section } from './dom';
import { date } from './format';
import { hashOf, routeOf } from './route';
import type { Index } from './types';
import { cite, dataset, method, workflows } from './views/about';
import { compare } from './views/compare';
import { comparison } from './views/comparison';
import { cost } from './views/cost';
import { failures } from './views/failures';
import { fastP } from './views/fastp';
import { leaderboard } from './views/leaderboard';
import { operator } from './views/operator';
import { operators } from './views/operators';
import { progress } from './views/progress';
import { configurationPage, run, runs } from './views/runs';
import { submission } from './views/submission';
import { submissions } from './views/submissions';

// The views in the order of the navigation. A view without a title is reached by links.
const VIEWS: Record<string, { title?: string; view: View }> = {
  leaderboard: { title: 'Leaderboard', view: leaderboard },
  comparison: { title: 'Comparison', view: comparison },
  cost: { title: 'Cost', view: cost },
  failures: { title: 'Failures', view: failures },
  operators: { title: 'Operators', view: operators },
  'fast-p': { title: 'fast_p', view: fastP },
  progress: { title: 'Over time', view: progress },
  runs: { title: 'Runs', view: runs },
  submissions: { title: 'Submissions', view: submissions },
  compare: { title: 'Compare two', view: compare },
  dataset: { title: 'Dataset', view: dataset },
  workflows: { title: 'Workflows', view: workflows },
  method: { title: 'Method', view: method },
  cite: { title: 'Citation', view: cite },
  operator: { view: operator },
  run: { view: run },
  submission: { view: submission },
  configuration: { view: configurationPage },
};

const PARENT: Record<string, string> = {
  operator: 'operators',
  run: 'runs',
  submission: 'submissions',
  configuration: 'leaderboard',
};

let shown = 0; // counts views, so that a slow view does not replace a newer one
let last = '';

async function show(index: Index, main: HTMLElement, nav: HTMLElement): Promise<void> {
  const mine = ++shown;
  const route = routeOf(location.hash);
  if (route.path.length === 0) route.path.push('leaderboard');
  const name = route.path[0]!;
  const entry = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  let content: Node;
  main.setAttribute('aria-busy', 'true');
  try {
    content = entry
      ? await entry.view({ index, route })
      : section('Unknown view', h('p', {}, `There is no view ${name}.`));
  } catch (problem) {
    const message = problem instanceof Error ? problem.message : String(problem);
    content = section('Error', h('p', { class: 'note', role: 'alert' }, message));
  }
  if (mine !== shown) return;
  main.replaceChildren(content);
  main.removeAttribute('aria-busy');
  const current = PARENT[name] ?? name;
  for (const anchor of nav.querySelectorAll('a')) {
    if (anchor.getAttribute('data-view') === current) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  const heading = main.querySelector('h2');
  document.title = `${heading?.textContent ?? name} – ${index.title}`;
  const path = route.path.join('/');
  if (last && last !== path) {
    scrollTo(0, 0);
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({ preventScroll: true });
  }
  last = path;
}

/// Leads to the other view, with the same suite, track, device and split.
function follow(event: Event): void {
  const anchor = (event.target as HTMLElement).closest('a');
  const name = anchor?.getAttribute('data-view');
  if (!anchor || !name) return;
  const query = new URLSearchParams();
  const now = routeOf(location.hash).query;
  for (const key of ['suite', 'track', 'device', 'set', 'split']) {
    const value = now.get(key);
    if (value !== null) query.set(key, value);
  }
  anchor.setAttribute('href', hashOf([name], query));
}

async function start(): Promise<void> {
  listen();
  const root = document.getElementById('site')!;
  let index: Index;
  try {
    index = await loadIndex();
  } catch (problem) {
    const message = problem instanceof Error ? problem.message : String(problem);
    root.replaceChildren(h('p', { role: 'alert' }, `The data cannot be read: ${message}`));
    return;
  }
  const nav = h(
    'nav',
    { class: 'views', 'aria-label': 'Views', click: follow, auxclick: follow },
    Object.entries(VIEWS)
      .filter(([, { title }]) => title)
      .map(([name, { title }]) => h('a', { href: hashOf([name]), 'data-view': name }, title)),
  );
  const main = h('main', { id: 'main' });
  root.replaceChildren(
    h(
      'a',
      { class: 'skip', href: '#main', click: (event) => skip(event, main) },
      'Skip to content',
    ),
    h('header', {}, h('h1', {}, index.title), nav),
    main,
    h('footer', {}, `Assay ${index.assay}, data of ${date(index.written_unix_ms)}.`),
  );
  addEventListener('hashchange', () => void show(index, main, nav));
  await show(index, main, nav);
  document.documentElement.setAttribute('data-ready', 'true');
}

function skip(event: Event, main: HTMLElement): void {
  event.preventDefault();
  main.setAttribute('tabindex', '-1');
  main.focus();
}

void start();
