#include "sandbox/record/recording_cache.h"

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

PreparedCase a_case() {
  PreparedCase one;
  one.id = "small";
  Argument x;
  x.name = "x";
  x.dtype = "float32";
  x.shape = {4, 8};
  x.strides = {8, 1};
  Argument k;
  k.name = "k";
  k.is_tensor = false;
  k.scalar_type = "int";
  k.value = std::int64_t{3};
  one.arguments = {x, k};
  one.outputs = {{.name = "y", .dtype = "float32", .from = "", .shape = {4, 8}, .nbytes = 128}};
  return one;
}

Job a_job() {
  Job job;
  job.entry = "f";
  return job;
}

CaseDone plan_of(std::size_t bytes) {
  CaseDone done;
  done.id = "small";
  done.plan.assign(bytes, 'p');
  return done;
}

}  // namespace

TEST_CASE("the key of a recording has everything that it depends on, and nothing else") {
  const auto key = RecordingCache::key({a_job(), "s", "cuda:90", a_case()});
  REQUIRE(key);
  PreparedCase same = a_case();
  same.id = "other";
  same.seed = "2";
  same.cost_bytes = 9;
  CHECK(RecordingCache::key({a_job(), "s", "cuda:90", same}) == key);

  CHECK(RecordingCache::key({a_job(), "t", "cuda:90", a_case()}) != key);
  CHECK(RecordingCache::key({a_job(), "s", "cuda:90", a_case(), true}) != key);
  CHECK(RecordingCache::key({a_job(), "s", "cuda:80", a_case()}) != key);
  CHECK(RecordingCache::key({a_job(), "s", "cuda:90", a_case(), false, kCudaCpp}) != key);
  Job entry = a_job(), dialect = a_job();
  entry.entry = "g";
  dialect.dialect = "gluon";
  CHECK(RecordingCache::key({entry, "s", "cuda:90", a_case()}) != key);
  CHECK(RecordingCache::key({dialect, "s", "cuda:90", a_case()}) != key);
  Job of_ann = a_job(), of_ben = a_job();
  of_ann.caller = "ann";
  of_ben.caller = "ben";
  of_ann.source = of_ben.source = "s";
  CHECK(RecordingCache::key({of_ann, "s", "cuda:90", a_case()}) !=
        RecordingCache::key({of_ben, "s", "cuda:90", a_case()}));
  CHECK(RecordingCache::key({of_ann, "oracle", "cuda:90", a_case()}) ==
        RecordingCache::key({of_ben, "oracle", "cuda:90", a_case()}));
  PreparedCase shape = a_case(), strides = a_case(), dtype = a_case(), scalar = a_case(),
               inout = a_case(), from = a_case();
  shape.arguments[0].shape = {8, 4};
  strides.arguments[0].strides = {1, 4};
  dtype.arguments[0].dtype = "float16";
  scalar.arguments[1].value = std::int64_t{4};
  inout.inout = {"x"};
  from.outputs[0].from = "x";
  PreparedCase axes = a_case(), name = a_case(), output = a_case();
  axes.axes = {{"rows", 4}};
  name.outputs[0].name = "z";
  output.outputs[0].shape = {32};
  for (const PreparedCase& other : {shape, strides, dtype, scalar, inout, from, axes, name, output})
    CHECK(RecordingCache::key({a_job(), "s", "cuda:90", other}) != key);
}

TEST_CASE("a case whose values host code may read is never kept") {
  PreparedCase structural = a_case();
  structural.structural = {"x"};
  CHECK_FALSE(RecordingCache::key({a_job(), "s", "cuda:90", structural}));
}

TEST_CASE("the cache is bounded and drops the oldest entry first") {
  RecordingCache cache(10'000);
  cache.put("a", plan_of(3'000));
  cache.put("b", plan_of(3'000));
  cache.put("a", plan_of(1));  // has no effect, because the cache contains the key already
  CHECK(cache.find("a")->plan.size() == 3'000);
  cache.put("c", plan_of(3'900));
  CHECK_FALSE(cache.find("a"));
  CHECK(cache.find("b"));
  CHECK(cache.find("c"));
  cache.put("huge", plan_of(20'000));
  CHECK_FALSE(cache.find("huge"));
  CHECK(cache.find("c"));
  CHECK(cache.bytes() <= 10'000);
}

TEST_CASE("the size of an entry counts everything that a candidate sent, not only its plan") {
  RecordingCache cache(100'000);
  CaseDone many = plan_of(1), wordy = plan_of(1), outputs = plan_of(1);
  many.kernels.resize(1'000);
  wordy.kernels.resize(1);
  wordy.kernels[0].symbol.assign(60'000, 's');
  outputs.outputs.resize(1'000);
  cache.put("many", many);
  CHECK_FALSE(cache.find("many"));  // the entry is larger than the cache
  cache.put("wordy", wordy);
  CHECK(cache.bytes() > 60'000);
  cache.put("wordy too", wordy);
  CHECK_FALSE(cache.find("wordy"));
  CHECK(cache.find("wordy too"));
  cache.put("outputs", outputs);
  CHECK(cache.find("outputs")->outputs.empty());
  CHECK(cache.bytes() <= 100'000);
}
