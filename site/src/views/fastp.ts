// fast_p with a movable p.
import { chartOf, colour, Plot } from '../charts';
import type { View } from '../context';
import { loadAllAttempts } from '../data';
import { h, section } from '../dom';
import { number, short } from '../format';
import { withQuery } from '../route';
import { lineLink, lineText, scopeOf, tabs, type Line } from '../scope';
import { table } from '../table';
import type { Attempt } from '../types';

const MOST = 4; // the largest p of the slider
const STEP = 0.05;

type Over = 'perf' | 'speed_up_pytorch' | 'speed_up_torch_compile';
const OVERS: [Over, string, string][] = [
  ['perf', '', 'the oracle'],
  ['speed_up_pytorch', 'pytorch', 'PyTorch eager'],
  ['speed_up_torch_compile', 'compile', 'torch.compile'],
];
type Curve = { line: Line; speeds: number[]; operators: number };

/// The speed-ups of the first samples that are right. A line without times has no curve.
function curveOf(line: Line, attempts: Attempt[], over: Over): Curve | null {
  const first = attempts.filter((attempt) => attempt.sample === 1);
  const right = first.filter((attempt) => attempt.outcome === 'pass');
  if (over === 'perf' && line.summary.fast_p_oracle === null) return null;
  if (right.length === 0 || right.some((attempt) => attempt[over] === null)) return null;
  return { line, speeds: right.map((attempt) => attempt[over]!), operators: first.length };
}

export const shareAbove = (curve: Curve, p: number): number =>
  curve.speeds.filter((speed) => speed > p).length / Math.max(1, curve.operators);

export const fastP: View = async ({ index, route }) => {
  const scope = scopeOf(index, route);
  const operators = index.suites[scope.suite]!.operators;
  const over = OVERS.find(([, key]) => key === (route.query.get('over') ?? ''))?.[0] ?? 'perf';
  const wanted = Number(route.query.get('p') ?? '1');
  const p = Number.isFinite(wanted) && wanted >= 0 && wanted <= MOST ? wanted : 1;
  const all = await loadAllAttempts();
  const ofSplit = (attempt: Attempt): boolean =>
    scope.split === 'all' || operators[attempt.operator]?.split === scope.split;
  const byLine = new Map<number, Attempt[]>();
  for (const attempt of all) {
    if (!ofSplit(attempt)) continue;
    const known = byLine.get(attempt.group);
    if (known) known.push(attempt);
    else byLine.set(attempt.group, [attempt]);
  }
  const curves = scope.lines
    .map((line) => curveOf(line, byLine.get(line.number) ?? [], over))
    .filter((curve): curve is Curve => curve !== null);
  const named = (curve: Curve): string => short(lineText(curve.line.group, curve.line.number), 34);
  const points = curves.flatMap((curve) =>
    Array.from({ length: Math.round(MOST / STEP) + 1 }, (_, at) => ({
      name: named(curve),
      p: at * STEP,
      share: shareAbove(curve, at * STEP),
    })),
  );
  const heading = `fast_p over ${OVERS.find(([key]) => key === over)![2]}`;
  const draw = (at: number): HTMLElement =>
    chartOf({
      heading,
      rows: curves,
      empty: 'Not drawn: nothing was timed, or not every right attempt has a time.',
      say: (c) => `${named(c)} ${number(shareAbove(c, at), 'share')} at p=${at}`,
      plot: () => ({
        height: 360,
        color: { domain: curves.map(named), range: curves.map((_, i) => colour(i)), legend: true },
        x: { label: 'p', grid: true },
        y: { domain: [0, 1], tickFormat: '.0%', grid: true, label: null },
        marks: [
          Plot.lineY(points, { x: 'p', y: 'share', stroke: 'name', curve: 'step-after' }),
          Plot.ruleX([at], { stroke: 'var(--ink)', strokeDasharray: '3 2' }),
        ],
      }),
    });
  const box = h('div', {}, draw(p));
  const output = h('output', { for: 'p' }, p.toFixed(2));
  const slider = h('input', {
    type: 'range',
    id: 'p',
    min: 0,
    max: MOST,
    step: STEP,
    value: p,
    input: (event) => {
      const now = Number((event.target as HTMLInputElement).value);
      output.textContent = now.toFixed(2);
      box.replaceChildren(draw(now));
    },
    change: (event) => {
      location.hash = withQuery(route, { p: (event.target as HTMLInputElement).value });
    },
  });
  return section(
    'fast_p',
    h(
      'p',
      {},
      'fast_p is the share of the operators whose first sample is right and more than p times as ' +
        'fast. fast_0 is the share of right first samples; fast_1 counts what is faster.',
    ),
    tabs(index, route, scope),
    h(
      'nav',
      { class: 'tabs', 'aria-label': 'Compared with' },
      h('span', { class: 'name' }, 'Over'),
      OVERS.map(([key, value, text]) =>
        h(
          'a',
          {
            href: withQuery(route, { over: value }),
            'aria-current': over === key ? 'true' : null,
          },
          text,
        ),
      ),
    ),
    h('p', { class: 'slider' }, h('label', { for: 'p' }, 'p = '), output, ' ', slider),
    box,
    table<Curve>({
      id: 'fastp',
      caption: `fast_p for p = ${p.toFixed(2)}`,
      route,
      sort: '-share',
      rows: curves,
      columns: [
        {
          key: 'line',
          title: 'Line',
          value: (curve) => lineText(curve.line.group, curve.line.number),
          show: (curve) => lineLink(curve.line.group, curve.line.number),
        },
        {
          key: 'share',
          title: `fast_p, p = ${p.toFixed(2)}`,
          numeric: true,
          define: 'fast_p',
          value: (curve) => shareAbove(curve, p),
          show: (curve) => number(shareAbove(curve, p), 'share'),
        },
        { key: 'operators', title: 'Operators', numeric: true, value: (curve) => curve.operators },
      ],
    }),
  );
};
