// One attempt: its verdict, its cases, its kernels, its calls and its sources.
import type { View } from '../context';
import { loadAttempts, loadDetails } from '../data';
import { facts, h, link, section, type Child } from '../dom';
import { date, NONE, number, seconds } from '../format';
import { sourceView } from '../highlight';
import { hashOf } from '../route';
import { roofline } from '../roofline';
import { table } from '../table';
import type { Attempt, Call, CaseRecord, Details, Kernel, Verdict, Timing } from '../types';
import { transcriptView } from './transcript';
import { checkOf, lineName, operatorName } from './submissions';

const ratio = (one?: number, other?: number): number | null => (one && other ? one / other : null);

const hiddenOnes = (count: number): string[] => (count > 0 ? [`${count} hidden`] : []);
const interval = (time: NonNullable<Timing>): string =>
  `${number(time.median_ns, 'ns')} ` +
  `(${number(time.low_ns, 'ns')} to ${number(time.high_ns, 'ns')})`;

function cases(verdict: Verdict, route: Parameters<View>[0]['route']): HTMLElement {
  const timed = verdict.cases.some((record) => record.latency);
  const skipped = verdict.skipped_cases.map((skip) =>
    h(
      'li',
      {},
      `${[...skip.ids, ...hiddenOnes(skip.hidden)].join(', ')}: ${skip.text}`,
    ),
  );
  return section(
    'Verdict by case',
    table<CaseRecord>({
      id: 'cases',
      caption: `${verdict.cases.length} cases`,
      route,
      rows: verdict.cases,
      columns: [
        {
          key: 'case',
          title: 'Case',
          value: (record) => record.id,
          show: (record) => (record.hidden ? `${record.id} (hidden)` : record.id),
        },
        {
          key: 'outcome',
          title: 'Result',
          value: (record) => record.outcome,
          show: (r) => h('span', { class: `result ${r.outcome}` }, r.outcome),
        },
        {
          key: 'max_abs_error',
          title: 'Error',
          numeric: true,
          value: (record) => record.max_abs_error ?? null,
          show: (record) =>
            typeof record.max_abs_error === 'number'
              ? record.max_abs_error.toPrecision(2)
              : (record.max_abs_error ?? NONE),
        },
        ...(timed
          ? [
              {
                key: 'latency_ns',
                title: 'Latency',
                numeric: true,
                value: (record: CaseRecord) => record.latency?.median_ns ?? null,
                show: (record: CaseRecord) =>
                  record.latency
                    ? interval(record.latency)
                    : NONE,
              },
              {
                key: 'baseline_ns',
                title: 'Baseline',
                numeric: true,
                value: (record: CaseRecord) => record.baseline_latency?.median_ns ?? null,
                show: (record: CaseRecord) => number(record.baseline_latency?.median_ns, 'ns'),
              },
              {
                key: 'pytorch_ns',
                title: 'PyTorch',
                numeric: true,
                value: (record: CaseRecord) => record.pytorch_ns ?? null,
                show: (record: CaseRecord) => number(record.pytorch_ns, 'ns'),
              },
              {
                key: 'floor_ns',
                title: 'Floor',
                numeric: true,
                value: (record: CaseRecord) => record.floor_ns ?? null,
                show: (record: CaseRecord) => number(record.floor_ns, 'ns'),
              },
              {
                key: 'floor_share',
                title: 'Floor / latency',
                numeric: true,
                define: 'gpu_efficiency',
                value: (record: CaseRecord) => ratio(record.floor_ns, record.latency?.median_ns),
                show: (record: CaseRecord) =>
                  number(ratio(record.floor_ns, record.latency?.median_ns), 'share'),
              },
            ]
          : []),
        { key: 'reason', title: 'Reason', long: true, value: (record) => record.reason || null },
      ],
    }),
    skipped.length > 0 ? [h('h3', {}, 'Cases that were not run'), h('ul', {}, skipped)] : null,
  );
}

function kernels(verdict: Verdict, route: Parameters<View>[0]['route']): HTMLElement | null {
  if (verdict.kernels.length === 0) return null;
  const figure = (
    key: keyof Kernel,
    title: string,
  ): { key: string; title: string; numeric: boolean; value: (kernel: Kernel) => number } => ({
    key,
    title,
    numeric: true,
    value: (kernel) => Number(kernel[key]),
  });
  return section(
    'Kernels',
    table<Kernel>({
      id: 'kernels',
      caption: 'Resources of the kernels',
      route,
      rows: verdict.kernels,
      columns: [
        { key: 'name', title: 'Kernel', value: (kernel) => kernel.name },
        { key: 'target', title: 'Target', value: (kernel) => kernel.target },
        figure('registers', 'Registers'),
        figure('spill_bytes', 'Spill bytes'),
        figure('shared_bytes', 'Shared bytes'),
        figure('num_warps', 'Warps'),
        {
          key: 'occupancy',
          title: 'Occupancy',
          numeric: true,
          value: (kernel) => kernel.occupancy,
          show: (kernel) => `${number(kernel.occupancy, 'share')} (${kernel.occupancy_limiter})`,
        },
        figure('launches', 'Launches'),
      ],
    }),
  );
}

function audit(details: Details, verdict: Verdict | null, tier: string): HTMLElement {
  const provenance = Object.entries(verdict?.provenance ?? {}).filter(
    ([name, value]) => typeof value === 'string' && value !== '' && name !== 'operator_revision',
  );
  return section(
    'Audit',
    facts([
      ['tier', verdict?.tier ?? (tier || NONE)],
      ['reason for the tier', details.tier_reason || verdict?.tier_reason],
      ['ended at the stage', verdict?.stage],
      ['refused because of', verdict && verdict.error_kind !== 'none' ? verdict.error_kind : ''],
      ...provenance.map(([name, value]): [string, Child] => [
        name.replaceAll('_', ' '),
        String(value),
      ]),
    ]),
    verdict?.hints && verdict.hints.length > 0
      ? [
          h('h3', {}, 'Findings'),
          h(
            'ul',
            {},
            verdict.hints.map((hint) =>
              h(
                'li',
                {},
                h('code', {}, hint.kind),
                hint.case ? ` (${hint.case})` : '',
                `: ${hint.text}`,
              ),
            ),
          ),
        ]
      : null,
  );
}

function printed(verdict: Verdict): HTMLElement | null {
  const parts: [string, string][] = [
    ['traceback', verdict.diagnostic?.traceback ?? ''],
    ['standard output', verdict.stdout ?? ''],
    ['standard error', verdict.stderr ?? ''],
  ];
  const shown = parts.filter(([, text]) => text);
  if (shown.length === 0) return null;
  return section(
    'What the submission printed',
    h('p', {}, 'This text is from the submission. It proves nothing.'),
    shown.map(([name, text]) => [
      h('h3', {}, name),
      h('pre', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': name }, text),
    ]),
  );
}

function timeline(verdict: Verdict): HTMLElement | null {
  const stages = Object.entries(verdict.stage_ms).filter(([, ms]) => Number.isFinite(ms));
  const total = stages.reduce((sum, [, ms]) => sum + ms, 0);
  const timed = verdict.cases.find((record) => record.timeline && record.timeline.length > 0);
  const bars = (rows: [string, number][], unit: (value: number) => string): HTMLElement => {
    const most = Math.max(...rows.map(([, value]) => value), 1e-9);
    return h(
      'table',
      { class: 'bars' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Step', 'Time', 'Share'].map((t) => h('th', { scope: 'col' }, t)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(([name, value]) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, name),
            h('td', { class: 'n' }, unit(value)),
            h('td', {}, h('meter', { min: 0, max: most, value, 'aria-label': name })),
          ),
        ),
      ),
    );
  };
  if (stages.length === 0 && !timed) return null;
  return section(
    'Timeline',
    stages.length > 0
      ? [h('h3', {}, `Stages of the grade: ${seconds(total)}`), bars(stages, (ms) => seconds(ms))]
      : null,
    timed
      ? [
          h('h3', {}, `Operations on the device, case ${timed.id}`),
          bars(
            timed.timeline!.map((step) => [
              `${step.name}${step.submitted ? '' : ' (not the submission’s)'}`,
              step.ns,
            ]),
            (ns) => number(ns, 'ns'),
          ),
        ]
      : null,
  );
}

function calls(details: Details, route: Parameters<View>[0]['route']): HTMLElement {
  return section(
    'Calls',
    table<Call>({
      id: 'calls',
      caption: `Calls in their order: ${details.calls.length}`,
      route,
      rows: details.calls,
      columns: [
        {
          key: 'call',
          title: 'Call',
          value: (call) => call.kind,
          show: (call) =>
            call.job === details.graded ? h('b', {}, `${call.kind} (counts)`) : call.kind,
        },
        { key: 'state', title: 'State', value: (call) => call.state },
        {
          key: 'outcome',
          title: 'Result',
          value: (call) => call.verdict?.outcome ?? null,
          show: (call) =>
            h(
              'span',
              { class: `result ${call.verdict?.outcome ?? ''}` },
              call.verdict?.outcome ?? NONE,
            ),
        },
        {
          key: 'source',
          title: 'Version',
          numeric: true,
          value: (call) => call.source + 1,
        },
        {
          key: 'queued',
          title: 'At',
          numeric: true,
          value: (call) => call.queued_unix_ms,
          show: (call) => date(call.queued_unix_ms),
        },
        {
          key: 'elapsed_ms',
          title: 'Time',
          numeric: true,
          value: (call) => call.elapsed_ms,
          show: (call) => seconds(call.elapsed_ms),
        },
        {
          key: 'summary',
          title: 'Answer',
          long: true,
          value: (call) => call.verdict?.summary ?? null,
        },
        { key: 'job', title: 'Job', value: (call) => call.job },
      ],
    }),
  );
}

/// The result with its explanation, which can begin with the same word.
function resultText({ label, explanation, error_type }: Attempt): string {
  const why = explanation || error_type;
  return !why || why.startsWith(label) ? why || label : `${label}: ${why}`;
}

export const submission: View = async ({ index, route }) => {
  const number_ = Number(route.path[1]);
  const [attempt] = Number.isInteger(number_) && number_ >= 0 ? await loadAttempts(number_, 1) : [];
  if (!attempt) return section('Submission', h('p', {}, 'There is no such attempt.'));
  const details = await loadDetails(attempt);
  const group = index.groups[attempt.group]!;
  const graded = details.calls.find((call) => call.job === attempt.job);
  const last = graded ?? details.calls[details.calls.length - 1];
  const verdict = last?.verdict ?? null;
  const name = operatorName(index, attempt);
  const chosen = last?.source ?? 0;
  return h(
    'div',
    {},
    section(
      `Attempt #${attempt.number}: ${name}`,
      h('p', { class: `result ${attempt.outcome}` }, resultText(attempt)),
      facts([
        ['operator', link(hashOf(['operator', String(group.suite), name]), name)],
        ['line', link(hashOf(['configuration', String(attempt.group)]), lineName(index, attempt))],
        [
          'run',
          link(
            hashOf(['run', group.samples[attempt.sample - 1]?.run ?? '']),
            group.samples[attempt.sample - 1]?.run ?? NONE,
          ),
        ],
        ['sample', attempt.sample],
        ['check', checkOf(attempt) && `${checkOf(attempt)}. ${attempt.check_note ?? ''}`],
        ['from outside, signed with the key', group.origin ?? ''],
        ['verdicts', group.provenance ?? ''],
        ['job', attempt.job || NONE],
        ['Perf', number(attempt.perf, 'ratio')],
        ['submitted', date(attempt.submitted_unix_ms)],
      ]),
      h(
        'p',
        {},
        link(hashOf(['compare'], { a: String(attempt.number) }), 'Compare with another attempt'),
      ),
    ),
    verdict ? cases(verdict, route) : null,
    verdict ? kernels(verdict, route) : null,
    verdict ? roofline(details, verdict) : null,
    verdict ? timeline(verdict) : null,
    audit(details, verdict, attempt.tier),
    verdict ? printed(verdict) : null,
    details.calls.length > 0 ? calls(details, route) : null,
    details.transcript ? transcriptView(details.transcript) : null,
    section(
      'Source',
      details.sources.length === 0
        ? h('p', {}, group.provenance ? 'The source is not included.' : 'There is no submission.')
        : null,
      details.sources.some((source) => source.text === null)
        ? h('p', { class: 'empty' }, 'The sources of this attempt are not published.')
        : null,
      details.sources.map(({ text, sha256 }, at) =>
        text === null
          ? h('p', { class: 'small' }, `Version ${at + 1}: SHA-256 ${sha256}`)
          : h(
              'details',
              { open: at === chosen },
              h(
                'summary',
                {},
                `Version ${at + 1} of ${details.sources.length}` +
                  `${at === chosen ? ', graded' : ''}: ` +
                  `${text.split('\n').length} lines, SHA-256 ${sha256.slice(0, 16)}`,
              ),
              sourceView(text, `Source, version ${at + 1}`),
            ),
      ),
    ),
  );
};
