#!/bin/sh
# One night: measure what EXPERIMENT says as an experiment of its own in STORE, then look at the history.
#
#   nightly.sh EXPERIMENT.yaml STORE [OPTIONS OF iosonde run …]
#
# Exit codes: 0 all is well; 1 a new change for the worse, or an incomplete run; 2, 3 as iosonde says; 75 another
# night still measures here, nothing was begun. COMMIT names what is measured; without it the working directory's.
set -eu
experiment=$1 store=$2
shift 2

# One at a time on this machine, whatever is measured. What runs does not hold the lock (9>&-): only this script does.
exec 9>"${LOCK:-${TMPDIR:-/tmp}/iosonde-nightly-$(id -u).lock}"
if ! flock -n 9; then
	echo "nightly: another night still measures here; nothing was begun" >&2
	exit 75
fi

code=0
iosonde run "$experiment" --name "nightly-$(date -u +%F)" --subject-commit "${COMMIT:-auto}" --store "$store" "$@" 9>&- || code=$?
if [ "$code" -ge 2 ]; then
	exit "$code" # nothing new to look at
fi
iosonde watch "$store" 9>&- || code=$?
exit "$code"
