# sh -c "$(cat watchdog.sh)" sh "<signals>" <command> [arguments]
# Runs the command and exits with its code. When whoever holds the other end of standard input goes away, be it
# by SIGKILL, the signals go to the command and to everything else in its process group, which this shell leads.
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
