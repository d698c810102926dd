// The data of a site, format assay.site/1. docs/reference/site-data.md describes it.

export type Estimate = {
  value: number;
  operators: number;
  interval: [number, number] | null;
  method: string | null;
} | null;

export type Curve = { p: number; share: number }[] | null;

export type Summary = {
  operators: number;
  samples: number;
  right: number;
  baseline: string | null;
  pass_at_1: Estimate;
  call_accuracy: Estimate;
  perf_at_1: Estimate;
  speed_up?: Estimate;
  speed_up_pytorch?: Estimate;
  gpu_efficiency?: Estimate;
  fast_p_oracle: Curve;
  fast_p_pytorch: Curve;
  fast_p_torch_compile: Curve;
};

export type ErrorGroup = { total: number; types: Record<string, number> };
export type Stage = {
  attempts: number;
  error_groups: Record<string, ErrorGroup>;
  without_error: number;
};

export type Suite = {
  name: string;
  version: string;
  digest: string;
  specs_are_of_this_digest?: boolean;
  operators: OperatorLine[];
};

export type OperatorLine = {
  name: string;
  split?: string;
  family?: string;
  difficulty?: number;
  dialect?: string;
  baseline?: string;
  summary?: string;
};

export type Spec = {
  name: string;
  description: string;
  entry: string;
  signature: string;
  arguments: { name: string; dtype: string; shape: string[] }[];
  outputs: {
    name: string;
    dtype: string;
    shape: string[];
    max_abs_error: number;
    scale: string;
  }[];
  cases: { id: string; dtype: string; axes: [string, number][] }[];
  hidden_cases: number;
  reference: string;
  origin: { benchmark: string; file: string; revision: string; licence: string };
} | null;

export type Sample = {
  run: string;
  created_unix_ms: number;
  store: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
  known_cost_usd: number;
};

export type Report = {
  run: {
    handle: string;
    samples: string[];
    agent: string;
    model: string;
    scripted: boolean;
    ranked: boolean;
    track: string;
    suite: string;
    judged_by: { name: string; version: string; digest: string }[];
    created_unix_ms: number;
    devices: string[];
    missing_layers: string[];
  };
  totals: {
    operators: number;
    attempts: number;
    submitted: number;
    passed: number;
    slow: number;
    baseline: string | null;
    perf_at_1: number | null;
    generalisation: number | null;
    no_perf_reason: string;
    labels: Record<string, number>;
    input_tokens: number;
    output_tokens: number;
    cost_usd: number | null;
    known_cost_usd: number;
    cost_per_pass_rate: number | null;
    cost_per_perf: number | null;
    cost_per_solved: number | null;
    tool_calls: number;
    sandbox_ms: number;
  };
  metrics: {
    all: Summary;
    files?: Summary | null; // of an imported benchmark, which counts files
    by_split: Record<string, Summary>;
    by_family: Record<string, Summary>;
    by_difficulty: Record<string, Summary>;
    by_suite: Record<string, Summary>;
    pass_at_k: { k: number; call: Estimate; execution: Estimate }[];
    error_groups: Record<string, ErrorGroup>;
    stages: Record<string, Stage>;
    similarity: Estimate;
    bootstrap: { seed: number; resamples: number; confidence: number };
  };
  suites_note?: string;
};

export type Group = {
  suite: number;
  device_class: string;
  origin?: string; // the key of a bundle from outside; empty: a store
  provenance?: string; // where imported verdicts are from; empty: the runs were made here
  unranked: string[];
  host_tier: number;
  note: string;
  difference: { base: number; pass_at_1: Estimate } | null;
  samples: Sample[];
  solved: [number, number, number | null][];
  report: Report;
};

/// A metric of an attempt. Its key is a column of the attempts.
export type MetricLine = {
  key: string;
  title: string;
  unit: 'ratio' | 'share' | 'error';
  averaged: boolean;
  higher_is_better: boolean;
};

export type Index = {
  format: string;
  metrics: MetricLine[];
  title: string;
  assay: string;
  written_unix_ms: number;
  suites: Suite[];
  attempt_columns: string[];
  attempt_parts: number[];
  details_parts: number;
  groups: Group[];
  sources?: string; // the submissions whose sources are in the data
  live?: { snapshot: number; revision: string; runs_left_out: number };
};

/// One attempt: a row of a part "attempts-N", with names.
export type Attempt = {
  number: number; // its place in all parts, which its link names
  group: number;
  operator: number;
  sample: number;
  label: string;
  outcome: string;
  error_kind: string;
  error_type: string;
  error_group: string;
  died_at: string;
  perf: number | null;
  speed_up: number | null;
  speed_up_pytorch: number | null;
  speed_up_torch_compile: number | null;
  gpu_efficiency: number | null;
  tier: string;
  tool_calls: number;
  lines: number | null;
  submitted_unix_ms: number | null;
  job: string;
  explanation: string;
  check?: string; // own, imported, claimed, verified or disputed
  check_note?: string;
  details_part: number;
  details_entry: number;
};

export type Timing = { median_ns: number; low_ns: number; high_ns: number } | undefined;

export type CaseRecord = {
  id: string;
  hidden: boolean;
  outcome: string;
  reason: string;
  max_abs_error?: number | string;
  latency?: Timing;
  baseline_latency?: Timing;
  pytorch_ns?: number;
  torch_compile_ns?: number;
  floor_ns?: number;
  cost_bytes: number;
  cost_flops: number;
  timeline?: { name: string; submitted: boolean; ns: number }[];
};

export type Kernel = {
  name: string;
  target: string;
  num_warps: number;
  registers: number;
  spill_bytes: number;
  shared_bytes: number;
  binary_bytes: number;
  occupancy: number;
  occupancy_limiter: string;
  launches: number;
};

export type Verdict = {
  outcome: string;
  error_kind: string;
  stage: string;
  summary: string;
  detail?: string;
  language?: string;
  tier: string;
  tier_reason: string;
  perf?: number;
  baseline?: string;
  diagnostic?: { exception: string; message: string; line?: number; traceback: string };
  cases: CaseRecord[];
  skipped_cases: { ids: string[]; hidden: number; text: string }[];
  kernels: Kernel[];
  // Without sources in the data, the next three are missing: they can quote a source.
  hints?: { kind: string; case: string; text: string }[];
  stdout?: string;
  stderr?: string;
  stage_ms: Record<string, number>;
  profile?: {
    case: string;
    bound: string;
    reason: string;
    suggestion: string;
    device_name: string;
    roofline?: Roofline;
  };
  provenance: Record<string, unknown>;
};

export type Roofline = {
  cost_bytes: number;
  cost_flops: number;
  bytes_per_s: number;
  flops_per_s: number;
  unit: string;
  source: string;
  floor_ns: number;
  latency_ns?: number;
  oracle_ns?: number;
};

export type Call = {
  job: string;
  kind: string;
  state: string;
  queued_unix_ms: number;
  elapsed_ms: number | null;
  source: number;
  verdict: Verdict | null;
};

export type Step = {
  kind: string; // prompt, reply, call, answer or note
  at_s: number;
  text: string;
  name?: string;
  job?: string;
  is_error?: boolean;
  input_tokens?: number;
  output_tokens?: number;
};
export type Transcript = { format: string; steps: Step[]; left_out: number };

export type Details = {
  graded: string;
  tier_reason: string;
  calls: Call[];
  sources: { sha256: string; text: string | null }[];
  transcript?: Transcript | null; // null: there is none, or it is not published
};
