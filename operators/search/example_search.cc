#include "operators/search/example_search.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"

namespace assay::operators {
namespace {

constexpr std::size_t kMaxWords = 64;

Error search_error(const SQLite::Exception& error) {
  return {ErrorCode::internal, std::string("full-text search of the examples: ") + error.what()};
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Converts `words` to a query like "a" OR "b". Every word is quoted and no word contains a quote,
/// so operators such as AND and NEAR, column names and prefixes have no special meaning.
std::string match_of(std::string_view words) {
  std::string match;
  std::size_t count = 0;
  for (std::size_t at = 0; at < words.size() && count < kMaxWords;) {
    std::size_t end = at;
    while (end < words.size() && in_word(words[end])) ++end;
    if (end > at) {
      match += (match.empty() ? "\"" : " OR \"") + std::string(words.substr(at, end - at)) + "\"";
      ++count;
    }
    at = end + 1;
  }
  return match;
}

class SqliteFullText : public FullText {
 public:
  explicit SqliteFullText(const std::vector<Example>& examples)
      : database_(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    database_.exec(
        "CREATE VIRTUAL TABLE examples USING fts5(name, title, source, tokenize = 'porter "
        "unicode61')");
    SQLite::Transaction transaction(database_);
    SQLite::Statement insert(
        database_, "INSERT INTO examples (rowid, name, title, source) VALUES (?, ?, ?, ?)");
    for (std::size_t i = 0; i < examples.size(); ++i) {
      insert.bind(1, static_cast<std::int64_t>(i));
      insert.bind(2, examples[i].name);
      insert.bind(3, examples[i].title);
      insert.bind(4, examples[i].source);
      insert.exec();
      insert.reset();
    }
    transaction.commit();
  }

  Result<std::vector<Hit>> search(std::string_view words, std::size_t k) const override {
    const std::string match = match_of(words);
    if (match.empty())
      return fail(
          ErrorCode::invalid_argument,
          "query contains no word; say what the example should show, e.g. \"segmented scan\"");
    const MutexLock lock(mutex_);
    try {
      // The name and the title have larger weights, because they describe an example better than
      // the names in its source.
      SQLite::Statement select(database_,
                               "SELECT rowid, -bm25(examples, 4.0, 4.0, 1.0) AS score FROM "
                               "examples WHERE examples MATCH ? "
                               "ORDER BY score DESC, rowid LIMIT ?");
      select.bind(1, match);
      select.bind(2, static_cast<std::int64_t>(k));
      std::vector<Hit> hits;
      while (select.executeStep())
        hits.push_back({static_cast<std::size_t>(select.getColumn(0).getInt64()),
                        select.getColumn(1).getDouble()});
      return hits;
    } catch (const SQLite::Exception& error) {
      return fail(search_error(error));
    }
  }

 private:
  mutable Mutex mutex_;
  SQLite::Database database_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<ExampleSearch>> ExampleSearch::load(const std::filesystem::path& folder) {
  ASSAY_TRY(examples, load_examples(folder));
  return std::make_unique<ExampleSearch>(std::move(examples));
}

Result<const FullText*> ExampleSearch::full_text() const {
  const MutexLock lock(mutex_);
  if (!full_text_) {
    ASSAY_TRY(made, FullText::make(examples_));
    full_text_ = std::move(made);
  }
  return full_text_.get();
}

const SimilarCode& ExampleSearch::similar_code() const {
  const MutexLock lock(mutex_);
  if (!similar_) {
    std::vector<std::string_view> sources;
    for (const Example& example : examples_) sources.emplace_back(example.source);
    similar_ = std::make_unique<SimilarCode>(sources);
  }
  return *similar_;
}

Result<std::vector<FoundExample>> ExampleSearch::by_words(std::string_view words,
                                                          std::size_t k) const {
  ASSAY_TRY(index, full_text());
  ASSAY_TRY(hits, index->search(words, k));
  return found(hits);
}

Result<std::vector<FoundExample>> ExampleSearch::by_code(std::string_view code,
                                                         std::size_t k) const {
  if (code_grams(code).empty())
    return fail(ErrorCode::invalid_argument,
                "code is too short to compare: give at least five tokens, e.g. a line of a kernel");
  return found(similar_code().nearest(code, k));
}

std::vector<FoundExample> ExampleSearch::found(const std::vector<Hit>& hits) const {
  std::vector<FoundExample> all;
  for (const Hit& hit : hits) all.push_back({&examples_[hit.index], hit.score});
  return all;
}

Result<std::unique_ptr<FullText>> FullText::make(const std::vector<Example>& examples) {
  try {
    return std::make_unique<SqliteFullText>(examples);
  } catch (const SQLite::Exception& error) {
    return fail(search_error(error));
  }
}

}  // namespace assay::operators
