// The meaning of each metric, for the heads of tables and the page about the method.

export type Definition = { title: string; text: string; source?: string };

export const DEFINITIONS: Record<string, Definition> = {
  rank: {
    title: 'Rank',
    text:
      'One more than the number of lines whose interval lies completely above this one. Lines ' +
      'whose intervals overlap can share a rank, because their difference may be due to chance.',
  },
  pass_at_1: {
    title: 'Pass@1',
    text:
      'Mean over the operators of right samples / samples. An operator without a submission is a ' +
      'failure. In brackets: the 95 % interval over the operators.',
    source: 'TritonGym; execution accuracy of TritonBench (arXiv 2502.14752)',
  },
  perf_at_1: {
    title: 'Perf@1',
    text:
      'Mean over the operators of the geometric mean of oracle latency / submission latency over ' +
      'the large cases. A failure counts as 0. For operators without an oracle, PyTorch eager ' +
      'takes its place, and the page says so.',
    source: 'TritonGym',
  },
  call_accuracy: {
    title: 'Call accuracy',
    text: 'Share of samples that ran to the end, right or wrong.',
    source: 'TritonBench (arXiv 2502.14752)',
  },
  speed_up: {
    title: 'Speed-up',
    text:
      'For each operator, the arithmetic mean of oracle latency / submission latency over cases ' +
      'and right samples; then the mean over the operators that have a right sample.',
    source: 'TritonBench; GEAK (arXiv 2507.23194)',
  },
  speed_up_pytorch: {
    title: 'Over PyTorch',
    text: 'PyTorch eager latency / submission latency, as a geometric mean over the cases.',
    source: 'KernelBench (arXiv 2502.10517)',
  },
  gpu_efficiency: {
    title: 'GPU efficiency',
    text:
      'Floor / latency, where the floor is the least time that memory bandwidth and arithmetic ' +
      'rate of the device allow. Mean over the cases, then over the operators that are solved.',
  },
  gpu_efficiency_peak: {
    title: 'GPU efficiency, peak',
    text: 'The same with the best case instead of the mean over the cases.',
    source: 'TritonBench, appendix B',
  },
  speed_up_torch_compile: {
    title: 'Over torch.compile',
    text: 'Latency of the reference after torch.compile / submission latency.',
  },
  own_share: {
    title: 'Own kernels',
    text: 'Share of the time that the submission’s own kernels take; the rest is copies.',
  },
  perf: {
    title: 'Perf',
    text: 'Geometric mean of baseline latency / submission latency over the large cases.',
  },
  codebleu: {
    title: 'CodeBLEU',
    text: 'Similarity of the source to the oracle’s source.',
    source: 'Ren et al. 2020 (arXiv 2009.10297)',
  },
  max_error: { title: 'Max error', text: 'The largest error of all cases, after scaling.' },
  difference: {
    title: 'Difference of Pass@1',
    text:
      'Mean of the differences for each operator from the first line of all splits, with the ' +
      'interval of that mean. So an operator that is hard for both does not widen it.',
  },
  fast_p: {
    title: 'fast_p',
    text: 'Share of the operators whose first sample is right and more than p times as fast.',
    source: 'KernelBench (arXiv 2502.10517)',
  },
  pass_at_k: {
    title: 'pass@k',
    text: 'Mean of 1 - C(n-c, k) / C(n, k), with n samples of which c are right.',
    source: 'Chen et al. 2021 (arXiv 2107.03374)',
  },
  cost: {
    title: 'Cost',
    text:
      'The sum that the runs reported. It is not known if a report had no cost. The cost of a ' +
      'run without a model is "none".',
  },
  cost_per_pass_rate: {
    title: '$/Pass',
    text: 'Cost / Pass@1.',
    source: 'TritonGym ($24.08 / 0.401 = $60.1)',
  },
  cost_per_perf: { title: '$/Perf', text: 'Cost / Perf@1.', source: 'TritonGym' },
  cost_per_solved: { title: '$/solved', text: 'Cost / number of right submissions.' },
  error_group: {
    title: 'Error group',
    text: 'One of the four groups into which TritonBench sorts 17 types of errors.',
    source: 'TritonBench, appendix C',
  },
  died_at: {
    title: 'Died at',
    text:
      'The first tool that no version of a failed attempt passed. compile: no version compiled. ' +
      'run_tests: no version was right on the public cases. submit: a version was right on them, ' +
      'but failed the grade or was never submitted.',
  },
  tier: {
    title: 'Tier',
    text:
      'How a submission ran. plan: its recorded kernels were replayed without its Python code. ' +
      'host: its Python code ran on the GPU, so attribution is weaker. interpreter: its kernels ' +
      'ran on a CPU. none: nothing ran.',
  },
  check: {
    title: 'Check',
    text:
      'Who vouches for the verdict of a submission from outside. verified here: it was judged ' +
      'again with the same result. claimed: only the one who sent it has judged it. disputed: a ' +
      'judgement here contradicts it. imported: a file had the verdict, and nothing was judged ' +
      'here.',
  },
  generalisation: {
    title: 'Generalisation',
    text: 'Speed-up on hidden cases / speed-up on public cases, as a geometric mean.',
  },
};

export const UNRANKED: Record<string, string> = {
  no_model: 'no model answered',
  practice: 'the track practice is not scored',
  host_tier: 'right submissions were judged on the host tier',
  several_suites: 'the operators changed while the runs went on',
  claimed: 'somebody else claims right submissions that nobody has verified here',
  disputed: 'a judgement here contradicts a submission',
};

export const SCHEMES: [string, string][] = [
  ['one_shot', 'asks the model once and submits the answer, whether or not it passes the tests'],
  [
    'leader',
    'keeps the best version; in each round the model edits this version with search-and-replace',
  ],
  [
    'alphaevolve',
    'asks for whole versions; a prompt has a parent version with its verdict, and other versions',
  ],
  ['geak', 'has four roles: generator, evaluator, reflector and optimizer'],
];
