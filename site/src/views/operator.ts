// One operator: its specification, who solves it, and the best times against the floor.
import { chartOf, noChart, Plot } from '../charts';
import type { View } from '../context';
import { loadAllAttempts, loadDetails, loadSpecs } from '../data';
import { facts, h, link, section } from '../dom';
import { number, short } from '../format';
import { sourceView } from '../highlight';
import { hashOf, type Route } from '../route';
import { suiteName } from '../scope';
import { table } from '../table';
import type { Attempt, Index, Spec } from '../types';
import { attemptColumns, lineName, operatorName } from './submissions';

function specSection(spec: Spec, route: Route): HTMLElement {
  if (!spec) return section('Specification', h('p', {}, 'The specification is not in the data.'));
  type Argument = NonNullable<Spec>['arguments'][number];
  type Output = NonNullable<Spec>['outputs'][number];
  return section(
    'Specification',
    h('p', { class: 'prose' }, spec.description),
    h(
      'pre',
      { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Signature' },
      spec.signature,
    ),
    table<Argument>({
      id: 'arguments',
      caption: 'Arguments',
      route,
      rows: spec.arguments,
      columns: [
        { key: 'name', title: 'Argument', value: (each) => each.name },
        { key: 'dtype', title: 'Type', value: (each) => each.dtype || null },
        { key: 'shape', title: 'Shape', value: (each) => each.shape.join(' x ') || null },
      ],
    }),
    table<Output>({
      id: 'outputs',
      caption: 'Outputs',
      route,
      rows: spec.outputs,
      columns: [
        { key: 'name', title: 'Output', value: (each) => each.name },
        { key: 'dtype', title: 'Type', value: (each) => each.dtype || null },
        { key: 'shape', title: 'Shape', value: (each) => each.shape.join(' x ') || null },
        {
          key: 'max_abs_error',
          title: 'Largest error',
          numeric: true,
          value: (o) => o.max_abs_error,
        },
        { key: 'scale', title: 'Errors are multiplied by', value: (o) => o.scale },
      ],
    }),
    table({
      id: 'spec-cases',
      caption: `Public cases; ${spec.hidden_cases} more are hidden`,
      route,
      rows: spec.cases,
      columns: [
        { key: 'case', title: 'Case', value: (each) => each.id },
        { key: 'dtype', title: 'Type', value: (each) => each.dtype },
        {
          key: 'axes',
          title: 'Sizes',
          value: (each) => each.axes.map(([name, extent]) => `${name} = ${extent}`).join(', '),
        },
      ],
    }),
    spec.reference
      ? h(
          'details',
          {},
          h('summary', {}, 'Reference in PyTorch'),
          sourceView(spec.reference, 'Reference in PyTorch'),
        )
      : null,
    spec.origin.benchmark
      ? facts([
          ['benchmark', spec.origin.benchmark],
          ['file', spec.origin.file],
          ['revision', spec.origin.revision],
          ['licence', spec.origin.licence],
        ])
      : null,
  );
}

type Time = { case: string; what: string; ns: number };

async function bestTimes(index: Index, right: Attempt[]): Promise<HTMLElement> {
  const heading = 'Best times against the floor';
  const timed = right.filter((attempt) => attempt.perf !== null);
  timed.sort((one, other) => other.perf! - one.perf!);
  const best = timed[0];
  if (!best) return noChart(heading, 'Not drawn: nothing was timed.');
  const details = await loadDetails(best);
  const verdict = details.calls.find((call) => call.job === best.job)?.verdict;
  const times: Time[] = [];
  for (const record of verdict?.cases ?? []) {
    const add = (what: string, ns: number | undefined): void => {
      if (ns) times.push({ case: record.id, what, ns });
    };
    if (!record.latency) continue;
    add('floor', record.floor_ns);
    add('best submission', record.latency.median_ns);
    add('baseline', record.baseline_latency?.median_ns);
    add('PyTorch', record.pytorch_ns);
  }
  return h(
    'div',
    {},
    chartOf({
      heading,
      rows: times,
      empty: 'Not drawn: the times are of hidden cases.',
      say: (time) => `${time.case} ${time.what} ${number(time.ns, 'ns')}`,
      plot: () => ({
        height: 80 + 40 * new Set(times.map((time) => time.case)).size,
        marginLeft: 120,
        color: {
          domain: ['floor', 'best submission', 'baseline', 'PyTorch'],
          range: ['var(--dim)', 'var(--a)', 'var(--b)', 'var(--c)'],
          legend: true,
        },
        x: { type: 'log', grid: true, label: 'ns', tickFormat: '~s' },
        y: { label: null },
        marks: [Plot.dot(times, { x: 'ns', y: 'case', fill: 'what', r: 6 })],
      }),
    }),
    h(
      'p',
      {},
      'Best: ',
      link(hashOf(['submission', String(best.number)]), `#${best.number}`),
      ` of ${short(lineName(index, best), 60)}, Perf ${number(best.perf, 'ratio')}.`,
    ),
  );
}

export const operator: View = async ({ index, route }) => {
  const suite = Number(route.path[1]);
  const operators = index.suites[suite]?.operators ?? [];
  const at = operators.findIndex((each) => each.name === route.path[2]);
  const op = operators[at];
  if (!op) return section('Operator', h('p', {}, 'There is no such operator.'));
  const spec = (await loadSpecs(suite))[at] ?? null;
  const rows = (await loadAllAttempts()).filter(
    (attempt) => index.groups[attempt.group]?.suite === suite && attempt.operator === at,
  );
  const right = rows.filter((attempt) => attempt.outcome === 'pass');
  const solvers = new Set(right.map((attempt) => attempt.group));
  const neighbour = (step: number, text: string): HTMLElement | null => {
    const other = operators[at + step];
    return other ? link(hashOf(['operator', String(suite), other.name]), text, other.name) : null;
  };
  return h(
    'div',
    {},
    section(
      op.name,
      h('p', {}, op.summary ?? ''),
      facts([
        ['suite', suiteName(index, suite)],
        ['split', op.split],
        ['family', op.family],
        ['difficulty', op.difficulty],
        ['language', op.dialect],
        ['baseline', op.baseline],
        ['solved by', `${solvers.size} of ${new Set(rows.map((row) => row.group)).size} lines`],
      ]),
      index.suites[suite]!.specs_are_of_this_digest === false && spec
        ? h('p', { class: 'note' }, 'The specification is of another version of the suite.')
        : null,
      h('p', { class: 'pager' }, neighbour(-1, '‹ '), ' ', neighbour(1, 'next: ')),
    ),
    await bestTimes(index, right),
    section(
      'Who solves it',
      table<Attempt>({
        id: 'solvers',
        caption: `${right.length} of ${rows.length} attempts right`,
        columns: attemptColumns(index).filter((column) => column.key !== 'operator'),
        rows,
        dropEmpty: true,
        route,
        sort: '-perf',
      }),
    ),
    specSection(spec, route),
  );
};

export { operatorName };
