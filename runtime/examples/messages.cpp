// Words are counted by the ranks of a job: each rank reads a part of the text and sends each word to the rank
// that counts it. Here all ranks live in one process; nothing but main() would change with one process for
// each.
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

// What one rank does. Returns how often each word was found that this rank counts.
std::map<std::string, int> count_words(teff::communicator& comm, const std::string& part) {
  std::map<std::string, int> counts;
  // One at a time, so that the map needs no lock.
  const auto found = comm.on(teff::ordered, [&](const std::string& word) { ++counts[word]; });
  comm.run([&] {
    std::istringstream words(part);
    for (std::string word; words >> word;) {
      const auto owner = std::hash<std::string>{}(word) % static_cast<std::size_t>(comm.ranks());
      found.send(static_cast<int>(owner), word);
    }
  });  // all words of all ranks have been counted
  return counts;
}

}  // namespace

int main() {
  const std::vector<std::string> text{"to be or not to be", "that is the question",
                                      "to sleep or not to sleep"};
  teff::loopback job(static_cast<int>(text.size()));
  std::vector<std::map<std::string, int>> counts(text.size());
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < text.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      teff::runtime rt{{.workers = 1}};
      teff::communicator comm(rt, job.rank(static_cast<int>(rank)));
      counts[rank] = count_words(comm, text[rank]);
    });
  }
  for (auto& each : ranks) each.join();

  std::map<std::string, int> all;
  for (auto& each : counts) all.merge(each);
  for (const auto& [word, count] : all) std::printf("%s %d\n", word.c_str(), count);
  return all["to"] == 4 && all["question"] == 1 && all.size() == 9 ? 0 : 1;
}
