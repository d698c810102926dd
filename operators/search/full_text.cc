#include "operators/search/full_text.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/mutex.h"

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

/// Makes a query like "a" OR "b". Every word is quoted and no word contains a quote, so AND, NEAR,
/// columns and prefixes have no special meaning.
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
      // An example's name and title describe it better than the names in its source.
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

Result<std::unique_ptr<FullText>> FullText::make(const std::vector<Example>& examples) {
  try {
    return std::make_unique<SqliteFullText>(examples);
  } catch (const SQLite::Exception& error) {
    return fail(search_error(error));
  }
}

}  // namespace assay::operators
