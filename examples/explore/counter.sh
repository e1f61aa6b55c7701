#!/bin/sh
# Keeps a counter in a file, which it replaces by rename.
set -e
for number in 1 2 3; do
    echo "$number" >counter.tmp
    mv counter.tmp counter
    echo "saved $number"
done
