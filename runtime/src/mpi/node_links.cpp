#include "mpi/node_links.hpp"

#include "platform/host_name.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace teff::detail {

namespace {

// How long a rank tries to connect when the job begins.
constexpr std::chrono::milliseconds patience{3000};

// The only message on a connection: why the job has to end, or an empty text for goodbye. It fits a TCP
// segment, so it comes whole.
using last_message = std::array<char, 256>;

bool can_be(int file, short what, std::chrono::milliseconds within) noexcept {
  pollfd waits{file, what, 0};
  return poll(&waits, 1, static_cast<int>(within.count())) == 1;
}

template <class Value>
void set(int socket, int level, int option, Value value) noexcept {
  setsockopt(socket, level, option, &value, sizeof value);
}

// The systems ask each other, not the processes: a process that is stopped is not gone.
void keep_asking(int socket, std::chrono::milliseconds silence) noexcept {
  if (silence.count() == 0) return;
  constexpr int questions = 3;
  const int gap = std::max(static_cast<int>(silence.count() / 1000 / (questions + 1)), 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, gap);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, gap);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, questions);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<unsigned>(silence.count()));
}

int listen_anywhere() noexcept {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made >= 0 && listen(made, 8) == 0) return made;  // on a port that the system chooses
  if (made >= 0) close(made);
  return -1;
}

// Closes a socket when the block ends, unless it is given away.
struct open_socket {
  explicit open_socket(int opened) noexcept : file(opened) {}
  open_socket(const open_socket&) = delete;
  open_socket& operator=(const open_socket&) = delete;
  ~open_socket() {
    if (file >= 0) close(file);
  }
  [[nodiscard]] int give_away() noexcept { return std::exchange(file, -1); }
  int file;
};

bool send_all(int socket, const void* bytes, std::size_t size) noexcept {
  return send(socket, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

}  // namespace

node_links::address_card node_links::own_card(int listening) {
  address_card card{};
  MPI_Comm_rank(MPI_COMM_WORLD, &card.rank);
  card.process = getpid();
  host_name().copy(card.node.data(), card.node.size() - 1);
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  if (listening >= 0 && getsockname(listening, reinterpret_cast<sockaddr*>(&bound), &size) == 0)
    card.port = bound.sin_port;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return card;
  std::size_t found = 0;
  for (const auto* each = all; each != nullptr && found < card.addresses.size(); each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    card.addresses[found++] = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr.s_addr;
  }
  freeifaddrs(all);
  return card;
}

node_links::node_links(MPI_Comm first_ranks, std::chrono::milliseconds silence) {
  int own = 0;
  int nodes = 0;
  MPI_Comm_rank(first_ranks, &own);
  MPI_Comm_size(first_ranks, &nodes);
  const open_socket listening(listen_anywhere());
  auto card = own_card(listening.file);
  if (getrandom(&card.job, sizeof card.job, GRND_NONBLOCK) < 0) card.job = static_cast<std::uint64_t>(own);
  cards_.resize(static_cast<std::size_t>(nodes));
  MPI_Allgather(&card, sizeof card, MPI_BYTE, cards_.data(), sizeof card, MPI_BYTE, first_ranks);
  others_ = {static_cast<std::size_t>((own + nodes - 1) % nodes),
             static_cast<std::size_t>((own + 1) % nodes)};
  // connect() succeeds as soon as the other side listens; it need not have accepted.
  files_[1] = connect_to(cards_[others_[1]]);
  files_[0] = accept_from(cards_[others_[0]], listening.file);
  int all = files_[0] >= 0 && files_[1] >= 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, first_ranks);
  for (int& each : files_) {
    if (each >= 0 && all == 0) close(std::exchange(each, -1));
    if (each >= 0) keep_asking(each, silence);
  }
}

node_links::~node_links() {
  const last_message goodbye{};
  for (const int each : files_) {
    if (each < 0) continue;
    send_all(each, goodbye.data(), goodbye.size());
    close(each);
  }
}

int node_links::connect_to(const address_card& next) const {
  for (const auto address : next.addresses) {
    if (address == 0 || next.port == 0) break;
    open_socket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = next.port;
    at.sin_addr.s_addr = address;
    if (connect(made.file, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno != EINPROGRESS)
      continue;
    int failed = 1;
    socklen_t size = sizeof failed;
    if (!can_be(made.file, POLLOUT, patience) ||
        getsockopt(made.file, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed != 0)
      continue;
    if (send_all(made.file, &next.job, sizeof next.job)) return made.give_away();
  }
  return -1;
}

// Other programs may connect, too. A rank of the job sends the number on the card of this rank.
int node_links::accept_from(const address_card& before, int listening) const {
  if (listening < 0 || before.port == 0) return -1;
  const auto& own = cards_[(others_[1] + cards_.size() - 1) % cards_.size()];
  const auto deadline = std::chrono::steady_clock::now() + 2 * patience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (!can_be(listening, POLLIN, patience)) break;
    open_socket came(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    std::uint64_t job = 0;
    if (came.file >= 0 && can_be(came.file, POLLIN, patience) &&
        recv(came.file, &job, sizeof job, 0) == sizeof job && job == own.job)
      return came.give_away();
  }
  return -1;
}

node_links::news node_links::hear(std::size_t i, std::string& why) const {
  last_message came{};
  const auto size = recv(files_[i], came.data(), came.size() - 1, 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return news::none;
  if (size > 0) {
    why = came.data();
    return why.empty() ? news::goodbye : news::end;
  }
  const auto& other = cards_[others_[i]];
  const auto rank = std::to_string(other.rank);
  const std::string node = other.node.data();
  const bool died = size == 0 || errno == ECONNRESET;
  why = died ? "rank " + rank + " (process " + std::to_string(other.process) + " on " + node + ") has died"
             : "node " + node + ", where rank " + rank + " runs, can't be reached";
  return news::end;
}

void node_links::tell(std::string_view why) const noexcept {
  last_message text{};
  why.copy(text.data(), text.size() - 1);
  for (const int each : files_) {
    if (each >= 0) send_all(each, text.data(), text.size());
  }
}

}  // namespace teff::detail
