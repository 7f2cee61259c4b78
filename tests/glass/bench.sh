#!/bin/sh
# Mount this build below the directory $1, write and read 20 files of 512 KiB through it, unmount.
set -eu
mkdir "$1/below" "$1/glass"
python "$(dirname "$0")/glass.py" "$1/below" "$1/glass"
trap 'umount "$1/glass"' EXIT
for n in $(seq 20); do dd if=/dev/zero of="$1/glass/file$n" bs=64k count=8 status=none; done
cat "$1"/glass/file* >"$1/copy"
[ "$(stat -c %s "$1/copy")" = 10485760 ]
