// All attempts, paged. Without filters, only the page's own part is loaded.
import type { Context, View } from '../context';
import { attemptCount, loadAllAttempts, loadAttempts } from '../data';
import { h, link, section } from '../dom';
import { date, number, short } from '../format';
import { hashOf, withQuery, type Route } from '../route';
import { configuration, lineLink, lineText } from '../scope';
import { table, type Column } from '../table';
import type { Attempt, Index } from '../types';

const PAGE = 100;

export const operatorName = (index: Index, attempt: Attempt): string => {
  const group = index.groups[attempt.group];
  return (group && index.suites[group.suite]?.operators[attempt.operator]?.name) || 'unknown';
};

export const lineName = (index: Index, attempt: Attempt): string => {
  const group = index.groups[attempt.group];
  return group ? lineText(group, attempt.group) : 'unknown';
};

/// Says who vouches for an attempt. Empty for those of the stores.
export const checkOf = (attempt: Attempt): string =>
  !attempt.check || attempt.check === 'own'
    ? ''
    : attempt.check === 'verified'
      ? 'verified here'
      : attempt.check;

export function attemptColumns(index: Index): Column<Attempt>[] {
  return [
    {
      key: 'attempt',
      title: 'Attempt',
      numeric: true,
      first: 'ascending',
      value: (attempt) => attempt.number,
      show: (attempt) => link(hashOf(['submission', String(attempt.number)]), `#${attempt.number}`),
    },
    {
      key: 'operator',
      title: 'Operator',
      value: (attempt) => operatorName(index, attempt),
    },
    {
      key: 'line',
      title: 'Line',
      value: (attempt) => lineName(index, attempt),
      show: (attempt) => {
        const group = index.groups[attempt.group];
        return group ? lineLink(group, attempt.group) : 'unknown';
      },
    },
    { key: 'sample', title: 'Sample', numeric: true, value: (attempt) => attempt.sample },
    {
      key: 'label',
      title: 'Result',
      value: (attempt) => attempt.label,
      show: (attempt) => h('span', { class: `result ${attempt.outcome}` }, attempt.label),
    },
    {
      key: 'check',
      title: 'Check',
      define: 'check',
      value: (attempt) => checkOf(attempt) || null,
      show: (attempt) => h('span', { class: `check ${attempt.check}` }, checkOf(attempt)),
    },
    { key: 'tier', title: 'Tier', define: 'tier', value: (attempt) => attempt.tier || null },
    ...index.metrics.map((metric) => {
      const value = (attempt: Attempt): number | null =>
        (attempt as unknown as Record<string, number | null>)[metric.key] ?? null;
      return {
        key: metric.key,
        title: metric.title,
        numeric: true,
        define: metric.key,
        first: metric.higher_is_better ? ('descending' as const) : ('ascending' as const),
        value,
        show: (attempt: Attempt): string => number(value(attempt), metric.unit),
      };
    }),
    {
      key: 'error_type',
      title: 'Error',
      value: (attempt) => attempt.error_type || null,
    },
    { key: 'died_at', title: 'Died at', define: 'died_at', value: (a) => a.died_at || null },
    { key: 'lines', title: 'Lines', numeric: true, value: (attempt) => attempt.lines },
    { key: 'tool_calls', title: 'Calls', numeric: true, value: (attempt) => attempt.tool_calls },
    {
      key: 'submitted',
      title: 'Submitted',
      numeric: true,
      value: (attempt) => attempt.submitted_unix_ms,
      show: (attempt) => date(attempt.submitted_unix_ms),
    },
    {
      key: 'explanation',
      title: 'Explanation',
      long: true,
      value: (attempt) => attempt.explanation,
      show: (attempt) => h('span', { title: attempt.explanation }, short(attempt.explanation, 80)),
    },
  ];
}

const CHOICES = ['group', 'operator', 'result', 'tier', 'error'] as const;

function matches(index: Index, attempt: Attempt, route: Route): boolean {
  const wanted = (name: string): string => route.query.get(name) ?? '';
  return (
    (!wanted('group') || String(attempt.group) === wanted('group')) &&
    (!wanted('operator') || operatorName(index, attempt).includes(wanted('operator'))) &&
    (!wanted('result') || attempt.label === wanted('result')) &&
    (!wanted('tier') || attempt.tier === wanted('tier')) &&
    (!wanted('error') || attempt.error_group === wanted('error'))
  );
}

function filters({ index, route }: Context): HTMLElement {
  const choose = (name: string, title: string, values: [string, string][]): HTMLElement =>
    h(
      'label',
      {},
      `${title} `,
      h(
        'select',
        {
          name,
          change: (event) => {
            location.hash = withQuery(route, {
              [name]: (event.target as HTMLSelectElement).value,
              'submissions.page': '',
            });
          },
        },
        [['', 'all'] as [string, string], ...values].map(([value, text]) =>
          h('option', { value, selected: route.query.get(name) === value }, text),
        ),
      ),
    );
  const same = (values: string[]): [string, string][] => values.map((value) => [value, value]);
  const labels = new Set(index.groups.flatMap((g) => Object.keys(g.report.totals.labels)));
  const errors = new Set(index.groups.flatMap((g) => Object.keys(g.report.metrics.error_groups)));
  return h(
    'form',
    { class: 'filters', submit: (event) => event.preventDefault() },
    choose(
      'group',
      'Line',
      index.groups.map((group, at) => [
        String(at),
        short(`${at + 1}: ${configuration(group)}`, 60),
      ]),
    ),
    choose('result', 'Result', same([...labels])),
    choose('tier', 'Tier', same(['plan', 'host', 'interpreter', 'none'])),
    choose('error', 'Error group', same([...errors])),
    h(
      'label',
      {},
      'Operator ',
      h('input', {
        type: 'search',
        value: route.query.get('operator') ?? '',
        change: (event) => {
          location.hash = withQuery(route, {
            operator: (event.target as HTMLInputElement).value,
            'submissions.page': '',
          });
        },
      }),
    ),
  );
}

export const submissions: View = async (context) => {
  const { index, route } = context;
  const isFiltered =
    CHOICES.some((name) => route.query.get(name)) || route.query.has('submissions.sort');
  const total = attemptCount();
  let shown: Node;
  if (isFiltered || total <= PAGE) {
    const all = await loadAllAttempts();
    const rows = all.filter((attempt) => matches(index, attempt, route));
    shown = table<Attempt>({
      id: 'submissions',
      caption: `${rows.length} of ${total} attempts`,
      columns: attemptColumns(index),
      dropEmpty: true,
      rows,
      route,
      rowsPerPage: PAGE,
    });
  } else {
    const pages = Math.ceil(total / PAGE);
    const wanted = Number(route.query.get('submissions.page') ?? '1');
    const page = Number.isInteger(wanted) && wanted >= 1 && wanted <= pages ? wanted : 1;
    const part = await loadAttempts((page - 1) * PAGE, PAGE);
    shown = table<Attempt>({
      id: 'submissions',
      caption: `${total} attempts`,
      columns: attemptColumns(index),
      dropEmpty: true,
      rows: part,
      total: { page, pages, all: loadAllAttempts },
      route,
      rowsPerPage: PAGE,
    });
  }
  return section('Submissions', filters(context), shown);
};
