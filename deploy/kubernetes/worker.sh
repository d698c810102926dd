#!/bin/sh
# Starts a worker in a new pod, and is the command of a pool of a server:
#   worker.sh JOB.yaml assay worker --device cuda:0
# It makes the job, waits for its pod and runs the command there. `kubectl exec` connects stdin and
# stdout before the command begins, so the worker's first message is not lost; `kubectl run` and
# `kubectl attach` may connect later. Progress and errors go to stderr, and the server shows them.
# NAMESPACE and POLL_S (the seconds between two looks) can be set in the environment.
set -eu
file=$1
shift
namespace=${NAMESPACE:-assay}
poll_s=${POLL_S:-2}
# The phase of the pod, and why it is not scheduled or cannot start.
state_of_pod='{.items[0].status.phase}'
state_of_pod="$state_of_pod "'{.items[0].status.conditions[?(@.status=="False")].message}'
state_of_pod="$state_of_pod "'{.items[0].status.containerStatuses[0].state.waiting.reason}'

job=$(kubectl --namespace "$namespace" create --filename "$file" --output name)
trap 'kubectl --namespace "$namespace" delete "$job" --wait=false >&2' EXIT
trap 'exit 143' TERM INT HUP
last=
while :; do
  state=$(kubectl --namespace "$namespace" get pods --selector "job-name=${job#*/}" \
    --output "jsonpath=$state_of_pod" 2>/dev/null) || state=
  case $state in
    Running*) break ;;
    Failed* | Succeeded*) echo "the pod of $job has ended: $state" >&2; exit 1 ;;
  esac
  [ "$state" = "$last" ] || echo "$job: ${state:-no pod yet}" >&2
  last=$state
  sleep "$poll_s" &
  wait $!  # unlike sleep, wait ends at a signal
done
trap - EXIT TERM INT HUP
# The pod sees by the process id that the worker runs. The job removes itself a minute after its
# end.
exec kubectl --namespace "$namespace" exec --stdin --quiet "$job" -- \
  sh -c 'echo $$ >/tmp/worker.pid && exec "$@"' worker "$@"
