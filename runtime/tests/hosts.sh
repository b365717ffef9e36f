#!/bin/sh
# Runs an MPI program on several hosts. Each host is a network namespace with its own host name. Ranks of two hosts
# share no memory, and communicate by TCP only.
#
#   hosts.sh HOSTS RANKS_A_HOST MPIEXEC [ITS OPTIONS] PROGRAM [ARGUMENTS]
#
# MPIEXEC is Open MPI's, and starts on the first host. A host reaches the others by its network device teff0. The
# script exits with MPIEXEC's status, or with 77 and the reason if hosts can't be made here. It ends after
# HOSTS_SECONDS, since MPIEXEC may wait for ever when ranks are gone.
hosts=$1 ranks=$2 mpiexec=$3
shift 3

skip() { echo "no hosts can be made here: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root may make network namespaces"
command -v ip > /dev/null || skip "there is no ip (package iproute2)"

job=teff$$
network=10.$((64 + $$ / 250 % 64)).$(($$ % 250))
of() { echo "$job-$1"; }  # the namespace of a host, by the last number of its address; 0: of the switch
agent=$(mktemp)
end() {
  for host in $(seq 0 "$hosts"); do
    ip netns pids "$(of "$host")" 2> /dev/null | xargs -r kill -9
    ip netns del "$(of "$host")" 2> /dev/null
  done
  rm -f "$agent"
}
trap end EXIT
trap 'exit 1' INT TERM

ip netns add "$(of 0)" 2> "$agent" || skip "$(cat "$agent")"
ip -n "$(of 0)" link add switch type bridge 2> "$agent" || skip "$(cat "$agent")"
ip -n "$(of 0)" link set switch up
all=
for host in $(seq "$hosts"); do
  ip netns add "$(of "$host")" || exit 1
  ip -n "$(of "$host")" link add teff0 type veth peer name "port$host" netns "$(of 0)" || exit 1
  ip -n "$(of 0)" link set "port$host" master switch up
  ip -n "$(of "$host")" address add "$network.$host/24" dev teff0
  ip -n "$(of "$host")" link set teff0 up
  ip -n "$(of "$host")" link set lo up
  all="$all${all:+,}$network.$host:$ranks"
done

# mpiexec calls this in place of ssh, with the host's address and a command.
cat > "$agent" << END
#!/bin/sh
host=\${1##*.}
shift
exec ip netns exec $job-\$host unshare --uts sh -c "hostname host\$host && \$*"
END
chmod +x "$agent"

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ip netns exec "$(of 1)" unshare --uts sh -c \
  'hostname host1 && exec timeout "$@"' sh "${HOSTS_SECONDS:-100}" "$mpiexec" --host "$all" -n $((hosts * ranks)) --oversubscribe --bind-to none \
  --mca plm_rsh_agent "$agent" --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include teff0 \
  --mca oob_tcp_if_include teff0 "$@"
