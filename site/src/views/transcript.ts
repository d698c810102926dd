// The transcript of an attempt: prompts, replies, tool calls and their answers, in their order.
// All texts are from a model, an agent or a submission, and are shown as text.
import { h, section, type Child } from '../dom';
import type { Step, Transcript } from '../types';

const TITLES: Record<string, string> = {
  prompt: 'Prompt',
  reply: 'Reply of the model',
  call: 'Call of a tool',
  answer: 'Answer of a tool',
  note: 'Note of the agent',
};
const MOST_FIRST_LINE = 80;

/// Returns the beginning of the first line that has a letter or a digit.
function firstLine(text: string): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  return line.length > MOST_FIRST_LINE ? `${line.slice(0, MOST_FIRST_LINE)}…` : line;
}

function heading(step: Step, at: number): Child {
  // An agent may report no tokens.
  const reported = step.kind === 'reply' && step.output_tokens !== undefined;
  const tokens = reported ? `, ${step.output_tokens} tokens` : '';
  const title = TITLES[step.kind] ?? step.kind;
  const name = step.name ? ` (${step.name})` : '';
  return [
    h('b', {}, `${at + 1}. ${title}${name}`),
    ` after ${step.at_s} s${tokens}${step.is_error ? ', refused' : ''}: `,
    h('span', { class: 'small' }, firstLine(step.text)),
  ];
}

export function transcriptView(transcript: Transcript): HTMLElement {
  const steps = transcript.steps.map((step, at) =>
    h(
      'details',
      { class: `step ${step.kind}` },
      h('summary', {}, heading(step, at)),
      h(
        'pre',
        { class: 'wide', tabindex: '0', role: 'region', 'aria-label': `Step ${at + 1}` },
        step.text,
      ),
    ),
  );
  return section(
    'Transcript',
    h(
      'p',
      {},
      'What the model and the agent said and did, without secrets. ' +
        'The texts are from the model, the agent and the submission. They prove nothing.',
    ),
    steps,
    transcript.left_out > 0
      ? h('p', { class: 'empty' }, `${transcript.left_out} later steps are left out.`)
      : null,
  );
}
