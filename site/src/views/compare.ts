// Compares two attempts: their numbers and their sources.
import type { View } from '../context';
import { loadAttempts, loadDetails } from '../data';
import { diffLines } from '../diff';
import { h, link, section, type Child } from '../dom';
import { NONE, number } from '../format';
import { hashOf, withQuery, type Route } from '../route';
import { downloads } from '../table';
import type { Attempt, Details } from '../types';
import { lineName, operatorName } from './submissions';

/// Returns null if the data has no sources.
const sourceOf = (attempt: Attempt, details: Details): string | null => {
  const call =
    details.calls.find((each) => each.job === attempt.job) ??
    details.calls[details.calls.length - 1];
  return call ? (details.sources[call.source]?.text ?? '') : '';
};

function chooser(route: Route): HTMLElement {
  const field = (name: string, title: string): HTMLElement =>
    h(
      'label',
      {},
      `${title} #`,
      h('input', {
        type: 'number',
        min: 0,
        value: route.query.get(name) ?? '',
        name,
        change: (event) => {
          location.hash = withQuery(route, { [name]: (event.target as HTMLInputElement).value });
        },
      }),
    );
  return h(
    'form',
    { class: 'filters', submit: (event) => event.preventDefault() },
    field('a', 'First attempt'),
    field('b', 'Second attempt'),
  );
}

export const compare: View = async ({ index, route }) => {
  const wanted = ['a', 'b'].map((name) => route.query.get(name) ?? '');
  const found = await Promise.all(
    wanted.map(async (text) =>
      /^[0-9]+$/.test(text) ? (await loadAttempts(Number(text), 1))[0] : undefined,
    ),
  );
  const [one, other] = found;
  const intro = h('p', {}, 'Enter the numbers of two attempts. The list of submissions has them.');
  if (!one || !other) {
    const chosen = one ?? other;
    return section(
      'Compare two',
      intro,
      chooser(route),
      chosen
        ? h('p', {}, `Chosen: ${operatorName(index, chosen)}, ${lineName(index, chosen)}.`)
        : null,
      link(hashOf(['submissions']), 'Submissions'),
    );
  }
  const details = await Promise.all([loadDetails(one), loadDetails(other)]);
  const rows: [string, string, string][] = (
    [
      ['operator', (a) => operatorName(index, a)],
      ['line', (a) => lineName(index, a)],
      ['result', (a) => a.label],
      ['tier', (a) => a.tier || NONE],
      ['Perf', (a) => number(a.perf, 'ratio')],
      ['over PyTorch', (a) => number(a.speed_up_pytorch, 'ratio')],
      ['floor / latency', (a) => number(a.gpu_efficiency, 'share')],
      ['lines of code', (a) => String(a.lines ?? NONE)],
      ['tool calls', (a) => String(a.tool_calls)],
      ['error', (a) => a.error_type || NONE],
    ] as [string, (attempt: Attempt) => string][]
  ).map(([name, show]) => [name, show(one), show(other)]);
  const texts = [sourceOf(one, details[0]!), sourceOf(other, details[1]!)];
  const isHidden = texts.includes(null);
  const edits = isHidden ? [] : diffLines(texts[0]!, texts[1]!);
  const signs = { same: ' ', removed: '-', added: '+' };
  const changed = edits.filter((edit) => edit.kind !== 'same').length;
  const head = (attempt: Attempt): Child =>
    link(hashOf(['submission', String(attempt.number)]), `#${attempt.number}`);
  return section(
    'Compare two',
    intro,
    chooser(route),
    one.operator !== other.operator ||
      index.groups[one.group]!.suite !== index.groups[other.group]!.suite
      ? h('p', { class: 'note' }, 'The attempts are for different operators.')
      : null,
    h(
      'table',
      { id: 'two' },
      h('caption', {}, 'Numbers'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Value'),
          h('th', { scope: 'col' }, head(one)),
          h('th', { scope: 'col' }, head(other)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(([name, a, b]) =>
          h(
            'tr',
            { class: a === b ? null : 'differs' },
            h('th', { scope: 'row' }, name),
            h('td', {}, a),
            h('td', {}, b),
          ),
        ),
      ),
    ),
    downloads('two', ['value', 'first', 'second'], () => rows),
    h('h3', {}, isHidden ? 'Sources' : `Sources: ${changed} lines differ`),
    isHidden
      ? h('p', { class: 'empty' }, 'The source of an attempt is not published.')
      : h(
      'pre',
      {
        class: 'wide diff',
        tabindex: '0',
        role: 'region',
        'aria-label': 'Difference of the sources',
      },
      edits.map((edit) =>
        h(
          edit.kind === 'added' ? 'ins' : edit.kind === 'removed' ? 'del' : 'span',
          {},
          `${signs[edit.kind]} ${edit.text}\n`,
        ),
      ),
    ),
  );
};
