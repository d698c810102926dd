// Pass@1 and Perf@1 of all lines with their intervals, on one scale for each metric.
import { chartOf, colour, nameAxis, nameMargin, Plot } from '../charts';
import type { Context, View } from '../context';
import { h, section } from '../dom';
import { NONE, number, short, withInterval } from '../format';
import { lineLink, lineText, scopeOf, tabs, type Line, type Metric } from '../scope';
import { table } from '../table';

type Mark = { name: string; value: number; low: number; high: number; ranked: boolean };

function intervals(lines: Line[], metric: Metric, heading: string, share: boolean): HTMLElement {
  const marks: Mark[] = [];
  for (const line of lines) {
    const estimate = line.summary[metric];
    if (!estimate) continue;
    const [low, high] = estimate.interval ?? [estimate.value, estimate.value];
    const name = short(lineText(line.group, line.number), 34);
    const ranked = line.group.unranked.length === 0;
    marks.push({ name, value: estimate.value, low, high, ranked });
  }
  marks.sort((one, other) => other.value - one.value);
  const unit = share ? 'share' : 'ratio';
  const most = Math.max(...marks.map((mark) => mark.high));
  const plot = (): Plot.PlotOptions => ({
    marginLeft: nameMargin(),
    marginRight: 60,
    height: 60 + 26 * marks.length,
    x: {
      domain: share ? [0, 1] : [0, Math.max(1.05, most)],
      tickFormat: share ? '.0%' : '.1f',
      grid: true,
      label: null,
    },
    y: { domain: marks.map((mark) => mark.name), label: null },
    marks: [
      nameAxis(),
      Plot.barX(marks, {
        x: 'value',
        y: 'name',
        fill: (mark: Mark) => (mark.ranked ? 'var(--a)' : 'var(--dim)'),
        fillOpacity: 0.35,
      }),
      Plot.ruleY(marks, { x1: 'low', x2: 'high', y: 'name', stroke: 'var(--ink)', strokeWidth: 2 }),
      Plot.dot(marks, { x: 'value', y: 'name', fill: 'var(--ink)', r: 4 }),
      Plot.text(marks, {
        x: 'high',
        y: 'name',
        text: (mark: Mark) => number(mark.value, unit),
        textAnchor: 'start',
        dx: 6,
        fill: 'var(--ink)',
      }),
      share ? null : Plot.ruleX([1], { stroke: 'var(--ink)', strokeDasharray: '3 2' }),
    ],
  });
  return chartOf({
    heading,
    rows: marks,
    empty: 'Not drawn: nothing was timed.',
    say: (mark) => `${mark.name} ${number(mark.value, unit)}`,
    plot,
  });
}

export function passAtK(lines: Line[]): HTMLElement | null {
  const points = lines.flatMap((line) =>
    line.group.report.metrics.pass_at_k.map((point) => ({
      name: short(lineText(line.group, line.number), 34),
      k: point.k,
      share: point.execution?.value ?? 0,
    })),
  );
  if (!points.some((point) => point.k > 1)) return null;
  const names = [...new Set(points.map((point) => point.name))];
  return chartOf({
    heading: 'pass@k',
    rows: points,
    empty: '',
    say: (point) => `${point.name} k=${point.k} ${number(point.share, 'share')}`,
    plot: () => ({
      height: 320,
      color: { domain: names, range: names.map((_, at) => colour(at)), legend: true },
      x: { ticks: [...new Set(points.map((point) => point.k))], tickFormat: 'd', label: 'k' },
      y: { domain: [0, 1], tickFormat: '.0%', grid: true, label: null },
      marks: [
        Plot.lineY(points, { x: 'k', y: 'share', stroke: 'name', strokeWidth: 2 }),
        Plot.dot(points, { x: 'k', y: 'share', fill: 'name', r: 4 }),
      ],
    }),
  });
}

export const comparison: View = ({ index, route }: Context) => {
  const scope = scopeOf(index, route);
  return section(
    'Comparison',
    h(
      'p',
      {},
      'Points are means over the operators; lines are 95 % intervals. If two intervals overlap, ' +
        'there may be no real difference. Grey: not ranked.',
    ),
    tabs(index, route, scope),
    intervals(scope.lines, 'pass_at_1', 'Pass@1', true),
    intervals(
      scope.lines,
      'perf_at_1',
      'Perf@1: baseline latency / submission latency (dashed: as fast as the baseline)',
      false,
    ),
    passAtK(scope.lines),
    table<Line>({
      id: 'comparison',
      caption: 'Values and intervals',
      route,
      sort: '-pass_at_1',
      rows: scope.lines,
      columns: [
        {
          key: 'line',
          title: 'Line',
          value: (line) => lineText(line.group, line.number),
          show: (line) => lineLink(line.group, line.number),
        },
        {
          key: 'pass_at_1',
          title: 'Pass@1',
          numeric: true,
          define: 'pass_at_1',
          value: (line) => line.summary.pass_at_1?.value ?? null,
          show: (line) => withInterval(line.summary.pass_at_1, 'share'),
        },
        {
          key: 'perf_at_1',
          title: 'Perf@1',
          numeric: true,
          define: 'perf_at_1',
          value: (line) => line.summary.perf_at_1?.value ?? null,
          show: (line) => withInterval(line.summary.perf_at_1, 'ratio'),
        },
        {
          key: 'difference',
          title: 'Pass@1 minus the first line',
          numeric: true,
          define: 'difference',
          value: (line) => line.group.difference?.pass_at_1?.value ?? null,
          show: (line) =>
            line.group.difference
              ? `${withInterval(line.group.difference.pass_at_1, 'share')}`
              : NONE,
        },
        { key: 'operators', title: 'Operators', numeric: true, value: (l) => l.summary.operators },
        { key: 'samples', title: 'Samples', numeric: true, value: (l) => l.group.samples.length },
      ],
    }),
  );
};
