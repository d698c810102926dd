// Runs, one run, and one line of the leaderboard with all of its numbers.
import type { Context, View } from '../context';
import { UNRANKED } from '../definitions';
import { loadAllAttempts } from '../data';
import { facts, h, link, section } from '../dom';
import { date, NONE, number, seconds, withInterval, type Unit } from '../format';
import { hashOf, type Route } from '../route';
import { configuration, lineLink, lineText, suiteName } from '../scope';
import { table, type Column } from '../table';
import type { Attempt, Estimate, Group, MetricLine, Sample, Summary } from '../types';
import { passAtK } from './comparison';
import { progressOf } from './live';
import { attemptColumns } from './submissions';

type Run = { sample: Sample; at: number; group: Group; number: number };

function runsOf({ index }: Context): Run[] {
  return index.groups.flatMap((group, line) =>
    group.samples.map((sample, at) => ({ sample, at: at + 1, group, number: line })),
  );
}

const costOf = (run: Run): string =>
  run.sample.cost_usd === null
    ? 'not known'
    : run.group.report.run.scripted && run.sample.cost_usd === 0
      ? 'none'
      : number(run.sample.cost_usd, 'dollars');

export const runs: View = (context) =>
  section(
    'Runs',
    table<Run>({
      id: 'runs',
      caption: 'All runs',
      route: context.route,
      sort: '-started',
      rows: runsOf(context),
      columns: [
        {
          key: 'run',
          title: 'Run',
          value: (run) => run.sample.run,
          show: (run) => link(hashOf(['run', run.sample.run]), run.sample.run),
        },
        {
          key: 'line',
          title: 'Line',
          value: (run) => lineText(run.group, run.number),
          show: (run) => lineLink(run.group, run.number),
        },
        { key: 'track', title: 'Track', value: (run) => run.group.report.run.track },
        { key: 'device', title: 'Device', value: (run) => run.group.device_class },
        { key: 'suite', title: 'Suite', value: (run) => suiteName(context.index, run.group.suite) },
        {
          key: 'started',
          title: 'Started',
          numeric: true,
          value: (run) => run.sample.created_unix_ms,
          show: (run) => date(run.sample.created_unix_ms),
        },
        {
          key: 'operators',
          title: 'Operators',
          numeric: true,
          value: (run) => run.group.report.totals.operators,
        },
        {
          key: 'tokens',
          title: 'Tokens',
          numeric: true,
          value: (run) => run.sample.input_tokens + run.sample.output_tokens,
        },
        {
          key: 'cost_usd',
          title: 'Cost',
          numeric: true,
          value: (run) => run.sample.cost_usd,
          show: costOf,
        },
      ],
    }),
  );

function attempts(rows: Attempt[], { index, route }: Context): HTMLElement {
  const right = rows.filter((attempt) => attempt.outcome === 'pass').length;
  return section(
    'Attempts',
    table<Attempt>({
      id: 'attempts',
      caption: `${right} of ${rows.length} attempts right`,
      columns: attemptColumns(index),
      dropEmpty: true,
      rows,
      route,
    }),
  );
}

export const run: View = async (context) => {
  const found = runsOf(context).find((each) => each.sample.run === context.route.path[1]);
  if (!found) {
    const now = progressOf(context.route.path[1] ?? '');
    return section(
      `Run ${context.route.path[1] ?? ''}`,
      now ? facts([['now', now]]) : h('p', {}, 'There is no such run.'),
    );
  }
  const all = await loadAllAttempts();
  const rows = all.filter(
    (attempt) => attempt.group === found.number && attempt.sample === found.at,
  );
  return h(
    'div',
    {},
    section(
      `Run ${found.sample.run}`,
      found.group.provenance ? h('p', { class: 'note' }, found.group.provenance) : null,
      facts([
        ['line', link(hashOf(['configuration', String(found.number)]), configuration(found.group))],
        ['now', progressOf(found.sample.run)],
        ['sample', found.at],
        ['track', found.group.report.run.track],
        ['suite', suiteName(context.index, found.group.suite)],
        ['device', found.group.device_class],
        ['started', date(found.sample.created_unix_ms)],
        ['tokens', `${found.sample.input_tokens} in, ${found.sample.output_tokens} out`],
        ['cost', costOf(found)],
      ]),
    ),
    attempts(rows, context),
  );
};

type Part = { kind: string; name: string; summary: Summary };

function groups(group: Group, metricLines: MetricLine[], route: Route): HTMLElement {
  const { metrics } = group.report;
  const parts: Part[] = [{ kind: 'all', name: 'all', summary: metrics.all }];
  const add = (kind: string, found: Record<string, Summary>): void => {
    for (const [name, summary] of Object.entries(found))
      parts.push({ kind, name: name === '0' || name === '' ? 'unknown' : name, summary });
  };
  if (metrics.files)
    parts.push({ kind: 'files', name: 'of the benchmark', summary: metrics.files });
  add('split', metrics.by_split);
  add('suite', metrics.by_suite);
  add('difficulty', metrics.by_difficulty);
  add('family', metrics.by_family);
  const mean = (key: string, title: string, unit: Unit): Column<Part> => {
    const estimate = (part: Part): Estimate =>
      (part.summary as unknown as Record<string, Estimate | undefined>)[key] ?? null;
    return {
      key,
      title,
      numeric: true,
      define: key,
      value: (part) => estimate(part)?.value ?? null,
      show: (part) => withInterval(estimate(part), unit),
    };
  };
  return section(
    'Groups',
    table<Part>({
      id: 'groups',
      caption: 'Splits, difficulties and families; in brackets: 95 % intervals over the operators',
      route,
      dropEmpty: true,
      rows: parts,
      columns: [
        {
          key: 'group',
          title: 'Group',
          value: (part) => (part.kind === 'all' ? 'all' : `${part.kind} ${part.name}`),
        },
        { key: 'operators', title: 'Operators', numeric: true, value: (p) => p.summary.operators },
        mean('pass_at_1', 'Pass@1', 'share'),
        mean('call_accuracy', 'Call accuracy', 'share'),
        mean('perf_at_1', 'Perf@1', 'ratio'),
        ...metricLines
          .filter((metric) => metric.averaged)
          .map((metric) => mean(metric.key, metric.title, metric.unit)),
      ],
    }),
  );
}

export const configurationPage: View = async (context) => {
  const number_ = Number(context.route.path[1]);
  const group = context.index.groups[number_];
  if (!group) return section('Line', h('p', {}, 'There is no such line.'));
  const { totals, metrics, run: first, suites_note } = group.report;
  const rows = (await loadAllAttempts()).filter((attempt) => attempt.group === number_);
  const perf =
    totals.perf_at_1 === null
      ? `none (${totals.no_perf_reason})`
      : withInterval(metrics.all.perf_at_1, 'ratio') +
        (totals.baseline === 'torch_eager' ? ' over PyTorch eager' : '');
  return h(
    'div',
    {},
    section(
      `${number_ + 1}: ${configuration(group)}`,
      group.note ? h('p', { class: 'note' }, group.note) : null,
      group.provenance ? h('p', { class: 'note' }, group.provenance) : null,
      suites_note ? h('p', { class: 'note' }, suites_note) : null,
      group.unranked.length > 0
        ? h(
            'p',
            { class: 'note' },
            `Not ranked: ${group.unranked.map((why) => UNRANKED[why] ?? why).join('; ')}.`,
          )
        : null,
      facts([
        [
          'Pass@1',
          `${withInterval(metrics.all.pass_at_1, 'share')}: ` +
            `${totals.passed} of ${totals.attempts} attempts right`,
        ],
        ['Perf@1', perf],
        [
          'Pass@1 minus that of the first line',
          group.difference
            ? [
                `${withInterval(group.difference.pass_at_1, 'share')}, compared with `,
                lineLink(context.index.groups[group.difference.base]!, group.difference.base),
              ]
            : '',
        ],
        ['call accuracy', withInterval(metrics.all.call_accuracy, 'share')],
        [
          'generalisation',
          totals.generalisation === null ? '' : number(totals.generalisation, 'ratio'),
        ],
        ['CodeBLEU', metrics.similarity ? withInterval(metrics.similarity, 'ratio') : ''],
        ['right, but slow', totals.slow || ''],
        [
          'tokens',
          `${number(totals.input_tokens, 'count')} in, ` +
            `${number(totals.output_tokens, 'count')} out`,
        ],
        ['cost', group.samples.length > 0 ? costOfGroup(group) : NONE],
        [
          'cost per solved operator',
          totals.cost_per_solved === null ? '' : number(totals.cost_per_solved, 'dollars'),
        ],
        ['tool calls', number(totals.tool_calls, 'count')],
        ['sandbox time', seconds(totals.sandbox_ms)],
      ]),
    ),
    passAtK([{ group, number: number_, summary: metrics.all }]),
    groups(group, context.index.metrics, context.route),
    attempts(rows, context),
    section(
      'Where this comes from',
      facts([
        ['agent', first.agent],
        ['model', first.model],
        ['track', first.track],
        ['operators', first.suite],
        [
          first.judged_by.length > 1 ? 'suites' : 'suite',
          first.judged_by.some((suite) => suite.name)
            ? first.judged_by
                .map((suite) => `${suite.name || 'unknown'} ${suite.version} (${suite.digest})`)
                .join(', ')
            : suiteName(context.index, group.suite),
        ],
        ['device', `${group.device_class} (${first.devices.join(', ') || 'none'})`],
        ['started', date(first.created_unix_ms)],
        ['from outside, signed with the key', group.origin ?? ''],
        [
          'runs',
          group.samples.map((sample, at) => [
            at > 0 ? ', ' : '',
            link(hashOf(['run', sample.run]), sample.run),
          ]),
        ],
        ['sandbox layers that the machine lacked', first.missing_layers.join(', ')],
      ]),
    ),
  );
};

function costOfGroup(group: Group): string {
  const { totals, run: first } = group.report;
  if (first.scripted && !(totals.known_cost_usd > 0)) return 'none';
  return totals.cost_usd === null
    ? totals.known_cost_usd > 0
      ? `not known, at least ${number(totals.known_cost_usd, 'dollars')}`
      : 'not known'
    : number(totals.cost_usd, 'dollars');
}
