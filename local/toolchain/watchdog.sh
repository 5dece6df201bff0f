# sh -c "$(cat watchdog.sh)" sh "<signals>" <command> [arguments]
# Runs the command and exits with its code. When the process at the other end of standard input ends, even by SIGKILL,
# the signals go to the command and to every other process of its group, which this shell leads.
exec 3<&0 </dev/null
signals=$1
shift
trap : TERM INT
"$@" 3<&- &
command=$!
(
  trap '' TERM INT
  read -r _ <&3
  for signal in $signals; do kill -s "$signal" 0; done
) >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$command"
code=$?
# A signal to the group also ends a wait early.
while kill -0 "$command" 2>/dev/null; do
  wait "$command"
  code=$?
done
kill -s KILL "$watcher" 2>/dev/null
exit "$code"
