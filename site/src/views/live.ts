// What a server does now: its devices, the visitor's jobs and runs, and a run's progress.
import type { View } from '../context';
import { h, link, section, type Child } from '../dom';
import { date, NONE } from '../format';
import { hashOf } from '../route';
import { table } from '../table';
import type { LiveJob, LiveRun, LiveState } from '../live';

let state: LiveState | null = null;

/// Keeps the newest state, which the views show.
export function setState(newest: LiveState): void {
  state = newest;
}

export const stateNow = (): LiveState | null => state;

export function bar(run: LiveRun): HTMLElement {
  const said = `${run.submitted} of ${run.operators} operators submitted, ${run.passed} right`;
  return h(
    'span',
    { class: 'progress' },
    h('progress', { max: run.operators, value: run.submitted, 'aria-label': said }),
    ` ${run.submitted} of ${run.operators}`,
  );
}

/// Says whether a run goes on. A run without a job may wait for its model.
export function phase(run: LiveRun): string {
  if (run.busy) return 'working';
  if (run.submitted >= run.operators) return 'complete';
  return run.expires_unix_ms <= Date.now() ? 'expired' : 'open';
}

/// The progress of a run, for the page of the run. Null if the server does not show it.
export function progressOf(run: string): Child {
  const found = state?.runs.find((each) => each.run === run);
  return found ? [bar(found), `, ${found.passed} right, ${phase(found)}`] : null;
}

const whereIs = (job: LiveJob): string => {
  if (job.state === 'queued') return job.position > 0 ? `place ${job.position} in the queue` : NONE;
  if (!job.stage) return 'running';
  return job.cases_total ? `${job.stage}, ${job.cases_done} of ${job.cases_total} cases` : job.stage;
};

export const live: View = ({ route }) => {
  if (!state) return section('Live', h('p', { class: 'empty' }, 'Waiting for the server.'));
  const now = state;
  type Device = LiveState['devices'][number];
  return h(
    'div',
    {},
    section(
      'Live',
      h(
        'p',
        {},
        now.principal
          ? `Runs and jobs of the token ${now.principal}. Other tokens have their own.`
          : 'This server has no tokens, so these are all of its runs and jobs.',
      ),
      table<LiveRun>({
        id: 'live-runs',
        caption: `The newest runs: ${now.runs.length}`,
        route,
        rows: now.runs,
        columns: [
          {
            key: 'run',
            title: 'Run',
            value: (run) => run.run,
            show: (run) => link(hashOf(['run', run.run]), run.run),
          },
          { key: 'state', title: 'State', value: phase },
          {
            key: 'submitted',
            title: 'Progress',
            numeric: true,
            value: (run) => run.submitted / Math.max(1, run.operators),
            show: bar,
          },
          { key: 'passed', title: 'Right', numeric: true, value: (run) => run.passed },
          { key: 'calls', title: 'Calls', numeric: true, value: (run) => run.calls },
          { key: 'agent', title: 'Agent', value: (run) => run.agent },
          { key: 'model', title: 'Model', value: (run) => run.model },
          { key: 'track', title: 'Track', value: (run) => run.track },
          {
            key: 'last',
            title: 'Last activity',
            numeric: true,
            value: (run) => run.last_unix_ms || null,
            show: (run) => date(run.last_unix_ms || null),
          },
        ],
      }),
    ),
    section(
      'Jobs',
      table<LiveJob>({
        id: 'live-jobs',
        caption: `Jobs without a verdict: ${now.jobs.length}`,
        route,
        rows: now.jobs,
        columns: [
          { key: 'job', title: 'Job', value: (job) => job.job },
          { key: 'operator', title: 'Operator', value: (job) => job.operator },
          { key: 'kind', title: 'Kind', value: (job) => job.kind },
          { key: 'device', title: 'Device', value: (job) => job.device },
          { key: 'state', title: 'State', value: (job) => job.state },
          { key: 'where', title: 'Where', value: whereIs },
          {
            key: 'run',
            title: 'Run',
            value: (job) => job.run || null,
            show: (job) => (job.run ? link(hashOf(['run', job.run]), job.run) : 'practice'),
          },
        ],
      }),
    ),
    section(
      'Devices',
      table<Device>({
        id: 'live-devices',
        caption: 'Jobs of all clients',
        route,
        rows: now.devices,
        columns: [
          { key: 'device', title: 'Device', value: (device) => device.name },
          { key: 'running', title: 'Running', numeric: true, value: (device) => device.running },
          { key: 'queued', title: 'Queued', numeric: true, value: (device) => device.queued },
          { key: 'description', title: 'Description', long: true, value: (d) => d.description },
        ],
      }),
    ),
  );
};
