// What the runs cost, and what a result costs.
import { chartOf, Plot } from '../charts';
import type { View } from '../context';
import { h, section } from '../dom';
import { number, short } from '../format';
import { lineLink, lineText, scopeOf, tabs, type Line } from '../scope';
import { table, type Column } from '../table';
import { costText } from './leaderboard';

const total = (
  key: 'cost_per_pass_rate' | 'cost_per_perf' | 'cost_per_solved',
  title: string,
): Column<Line> => ({
  key,
  title,
  numeric: true,
  define: key,
  first: 'ascending',
  value: ({ group }) => group.report.totals[key],
  show: ({ group }) => number(group.report.totals[key], 'dollars'),
});

/// The tokens of a line. A line without any whose cost is not known did not report them.
function tokens({ group }: Line, key: 'input_tokens' | 'output_tokens'): number | null {
  const { totals, run } = group.report;
  const reported = totals.input_tokens + totals.output_tokens > 0 || totals.cost_usd !== null;
  return reported || run.scripted ? totals[key] : null;
}

function scatter(lines: Line[]): HTMLElement {
  const heading = 'Score against cost of one attempt';
  const points = lines
    .filter((line) => line.group.report.totals.cost_usd !== null && line.summary.pass_at_1)
    .map((line) => {
      const { totals, run } = line.group.report;
      return {
        name: short(lineText(line.group, line.number), 34),
        cost: totals.cost_usd! / Math.max(1, totals.attempts),
        pass: line.summary.pass_at_1!.value,
        low: line.summary.pass_at_1!.interval?.[0] ?? line.summary.pass_at_1!.value,
        high: line.summary.pass_at_1!.interval?.[1] ?? line.summary.pass_at_1!.value,
        isModel: !run.scripted,
      };
    })
    .filter((point) => point.isModel || point.cost > 0);
  const plot = (): Plot.PlotOptions => ({
    height: 380,
    marginRight: 40,
    x: { label: 'dollars for one attempt', grid: true, zero: true, tickFormat: '$.3~f' },
    y: { domain: [0, 1], tickFormat: '.0%', grid: true, label: 'Pass@1' },
    marks: [
      Plot.ruleX(points, { x: 'cost', y1: 'low', y2: 'high', stroke: 'var(--dim)' }),
      Plot.dot(points, { x: 'cost', y: 'pass', fill: 'var(--a)', r: 5 }),
      Plot.text(points, {
        x: 'cost',
        y: 'pass',
        text: (point: { name: string }) => point.name.split(':')[0],
        dy: -10,
        fill: 'var(--ink)',
      }),
    ],
  });
  return chartOf({
    heading,
    rows: points,
    empty: 'Not drawn: no cost is known.',
    say: (point) =>
      `${point.name} ${number(point.cost, 'dollars')}, ${number(point.pass, 'share')}`,
    plot,
  });
}

export const cost: View = ({ index, route }) => {
  const scope = scopeOf(index, route);
  return section(
    'Cost',
    h(
      'p',
      {},
      'Costs are what the agents reported. They are of whole runs, so there is one value for all ' +
        'splits. The Pass@1 and Perf@1 of this page are of all operators.',
    ),
    tabs(index, route, scope, false),
    scatter(scope.lines),
    table<Line>({
      id: 'cost',
      caption: 'Cost of each line',
      route,
      sort: 'cost_per_pass_rate',
      rows: scope.lines,
      columns: [
        {
          key: 'line',
          title: 'Line',
          value: (line) => lineText(line.group, line.number),
          show: (line) => lineLink(line.group, line.number),
        },
        {
          key: 'input_tokens',
          title: 'Input tokens',
          numeric: true,
          value: (line) => tokens(line, 'input_tokens'),
          show: (line) => number(tokens(line, 'input_tokens'), 'count'),
        },
        {
          key: 'output_tokens',
          title: 'Output tokens',
          numeric: true,
          value: (line) => tokens(line, 'output_tokens'),
          show: (line) => number(tokens(line, 'output_tokens'), 'count'),
        },
        {
          key: 'cost_usd',
          title: 'Cost',
          numeric: true,
          define: 'cost',
          first: 'ascending',
          value: ({ group }) => group.report.totals.cost_usd,
          show: (line) => costText(line),
        },
        {
          key: 'pass_at_1',
          title: 'Pass@1',
          numeric: true,
          define: 'pass_at_1',
          value: ({ group }) => group.report.metrics.all.pass_at_1?.value ?? null,
          show: ({ group }) => number(group.report.metrics.all.pass_at_1?.value, 'share'),
        },
        {
          key: 'perf_at_1',
          title: 'Perf@1',
          numeric: true,
          define: 'perf_at_1',
          value: ({ group }) => group.report.totals.perf_at_1,
          show: ({ group }) => number(group.report.totals.perf_at_1, 'ratio'),
        },
        total('cost_per_pass_rate', '$/Pass'),
        total('cost_per_perf', '$/Perf'),
        total('cost_per_solved', '$/solved'),
        {
          key: 'tool_calls',
          title: 'Tool calls',
          numeric: true,
          value: ({ group }) => group.report.totals.tool_calls,
        },
      ],
    }),
  );
};
