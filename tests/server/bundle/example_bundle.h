// A bundle with one job, and new keys, for tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <string>

#include "base/handle.h"
#include "server/bundle/run_bundle.h"

namespace assay::bundle::test {

/// Returns a new private key in PEM.
inline std::string new_key() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(out);
  EVP_PKEY_free(key);
  return pem;
}

/// Returns a bundle whose only job claims a right submission of vector_add.
inline RunBundle example_bundle() {
  RunBundle bundle;
  bundle.assay = "0.1.0";
  bundle.run.handle = new_handle("run");
  bundle.run.request = {"agent", "openai:<m>", tools::Track::one_shot, "vector_add"};
  bundle.run.operators = {"vector_add"};
  bundle.run.suite_id = {"assay", "1", "digest"};
  bundle.run.created_unix_ms = 1;
  bundle.run.expires_unix_ms = 2;
  bundle.usage = {.input_tokens = 3, .output_tokens = 4, .cost_usd = 0.5, .cost_known = true};
  bundle.devices = {"cpu"};
  BundledJob job;
  job.job = new_handle("job");
  job.operator_name = "vector_add";
  job.device = "cpu";
  job.language = "python";
  job.kind = sandbox::JobKind::grade;
  job.source = "x = 1\n";
  job.queued_unix_ms = 5;
  job.finished_unix_ms = 6;
  job.verdict.job = job.job;
  job.verdict.kind = job.kind;
  job.verdict.operator_name = job.operator_name;
  job.verdict.outcome = sandbox::Outcome::pass;
  job.verdict.error_kind = sandbox::ErrorKind::none;
  job.plans = {{"small cuda:90", std::string("\0plan", 5)}};
  bundle.jobs = {job};
  transcripts::TranscriptStep step;
  step.kind = transcripts::StepKind::reply;
  step.text = "<b>here</b>";
  bundle.transcripts["vector_add"].steps = {step};
  return bundle;
}

}  // namespace assay::bundle::test
