// What the numbers are about: the dataset, the agents, the method and how to cite.
import type { View } from '../context';
import { DEFINITIONS, SCHEMES, UNRANKED } from '../definitions';
import { facts, h, section } from '../dom';
import { date } from '../format';
import { scopeOf, suiteName } from '../scope';
import { table } from '../table';

export const dataset: View = ({ index, route }) => {
  type Row = { suite: string; split: string; difficulty: string; count: number };
  const counts = new Map<string, Row>();
  index.suites.forEach((suite, at) => {
    for (const op of suite.operators) {
      const row = {
        suite: suiteName(index, at),
        split: op.split ?? 'unknown',
        difficulty: op.difficulty ? String(op.difficulty) : 'unknown',
        count: 0,
      };
      const key = JSON.stringify([at, row.split, row.difficulty]);
      const known = counts.get(key) ?? row;
      known.count += 1;
      counts.set(key, known);
    }
  });
  return section(
    'Dataset',
    h(
      'p',
      {},
      'A suite is a set of operators, each with a specification, a reference in PyTorch, public ' +
        'cases and hidden cases. Results of suites with different digests are never ranked ' +
        'together. This page counts the operators that runs here have.',
    ),
    index.suites.map((suite, at) =>
      facts([
        ['suite', suiteName(index, at)],
        ['operators', suite.operators.length],
        ['digest', suite.digest || 'unknown'],
      ]),
    ),
    table<Row>({
      id: 'dataset',
      caption: 'Operators by split and difficulty',
      route,
      rows: [...counts.values()],
      columns: [
        { key: 'suite', title: 'Suite', value: (row) => row.suite },
        { key: 'split', title: 'Split', value: (row) => row.split },
        { key: 'difficulty', title: 'Difficulty', value: (row) => row.difficulty },
        { key: 'operators', title: 'Operators', numeric: true, value: (row) => row.count },
      ],
    }),
  );
};

export const workflows: View = ({ index, route }) => {
  const scope = scopeOf(index, route);
  const seen = [...new Set(index.groups.map((group) => group.report.run.agent))];
  const isReference = (agent: string): boolean =>
    SCHEMES.some(([name]) => agent === name || agent.startsWith(`${name}?`));
  const seenOf = (name: string): number =>
    index.groups.filter((group) => group.report.run.agent.split('?')[0] === name).length;
  const others = seen.filter((agent) => !isReference(agent));
  return section(
    'Workflows',
    h('p', {}, 'A workflow is the loop that an agent runs around a model. All agents are clients.'),
    h(
      'div',
      { class: 'cards' },
      SCHEMES.map(([name, text]) =>
        h(
          'div',
          { class: 'card' },
          h('h3', {}, name),
          h('p', {}, `The agent ${text}.`),
          h(
            'p',
            { class: 'small' },
            `Lines here: ${seenOf(name)}`,
          ),
        ),
      ),
    ),
    others.length > 0
      ? [
          h('h3', {}, 'Other agents'),
          h(
            'ul',
            {},
            others.map((a) => h('li', {}, a)),
          ),
        ]
      : null,
    h('p', {}, `The track ${scope.track} limits the calls of each operator.`),
  );
};

export const method: View = ({ index }) => {
  const boot = index.groups[0]?.report.metrics.bootstrap;
  return h(
    'div',
    {},
    section(
      'Method',
      h(
        'p',
        {},
        'Every submission is judged in a sandbox on public and hidden cases. Its result is ' +
          'compared with a reference by a process that the submission cannot reach. A pass needs ' +
          'a complete, right record of every case. Hidden cases are not in these pages.',
      ),
      h(
        'p',
        {},
        boot
          ? `Intervals are ${100 * boot.confidence} % percentile bootstrap intervals over the ` +
              `operators (${boot.resamples} resamples, seed ${boot.seed}). If all operators have ` +
              'the same result, a share has the interval of Wilson, and a ratio has none.'
          : '',
      ),
    ),
    section(
      'What is never ranked',
      h(
        'ul',
        {},
        Object.values(UNRANKED).map((text) => h('li', {}, text)),
      ),
    ),
    section(
      'Definitions',
      h(
        'dl',
        { class: 'long' },
        Object.values(DEFINITIONS).map((each) => [
          h('dt', {}, each.title),
          h('dd', {}, each.text, each.source ? ` Source: ${each.source}.` : ''),
        ]),
      ),
    ),
    section(
      'Data',
      h(
        'p',
        {},
        `Format ${index.format}, written by Assay ${index.assay} on ` +
          `${date(index.written_unix_ms)}. ` +
          'Each table has its rows as CSV and JSON.',
      ),
    ),
  );
};

const BIBTEX = (version: string): string =>
  [
    '@software{assay,',
    '  title = {Assay: a server that judges GPU kernels written by agents},',
    '  author = {{The Assay contributors}},',
    `  version = {${version}},`,
    '  license = {Apache-2.0}',
    '}',
  ].join('\n');

export const cite: View = ({ index }) =>
  section(
    'Citation',
    h('p', {}, 'If you use these results, please cite the software that judged them:'),
    h(
      'pre',
      { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'BibTeX' },
      BIBTEX(index.assay),
    ),
    h('p', {}, 'Name the suite with its digest, the track, the device and the date of the data:'),
    h(
      'pre',
      { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Data' },
      [
        ...index.suites.map((_, at) => `suite ${suiteName(index, at)}`),
        `data of ${date(index.written_unix_ms)}`,
      ].join('\n'),
    ),
  );
