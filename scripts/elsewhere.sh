#!/usr/bin/env bash
# Other machines, played by this one: other kernels, processors, signals, places, users and Pythons.
#
#     scripts/elsewhere.sh [WORD...]     every line, or those whose name holds one of the words
#
# One line each: name, passed, failed or skipped, seconds, and what pytest counted. The exit code is
# 1 if a line failed. A skipped line says why it could not be run here; it never counts as passed.
#
# Each line also plays the same seeded matches. They use no floating-point kernels, so they have to
# give the bytes of the first line, whatever the line changes. A trained network need not.
set -uo pipefail
cd "$(dirname "$0")/.."
here=$PWD
python=$here/.venv/bin/python
wanted=("$@")
work=$(mktemp -d)
chmod 755 "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Chosen for what a line changes, and quick: the whole suite would take ten minutes a line.
# Networks, whose training rests on torch's kernels: what a test says of one must hold of any.
networks=(-m "not whole" tests/agents/learning/test_ppo.py tests/agents/learning/test_resuming.py)
# Matrices of numpy: embeddings, searches by meaning, equilibria, ratings, intervals, a model's arrays.
numbers=(tests/agents/learning/test_policy.py tests/agents/learning/test_resuming.py
    tests/agents/observing tests/agents/players/test_observing.py
    tests/vectorstore/test_minilm.py tests/vectorstore/test_bert.py tests/tools/test_retrieval.py
    tests/agents/solving/test_form.py tests/tools/playtest/test_ratings.py
    tests/tools/playtest/test_intervals.py tests/games/checks/test_seats.py)
# Made games, journals and recordings: the order of a set would show in their bytes.
orders=(tests/graph/new/test_again.py tests/tools/playtest/test_journal.py tests/agents/strategy)
# Dates, in traces and in the sandbox, which has no clock.
dates=(tests/graph/run tests/tools/guest/confine/test_scrub.py)
# Words that are printed, read and written.
words=(tests/test_entry.py tests/app/test_commands.py tests/app/test_console.py
    tests/app/test_table.py tests/tools/reporting)
# Files and folders that are made, locked, replaced and read by processes of another user.
files=(tests/graph/run/test_folder.py tests/app/test_record.py tests/app/test_own_game.py
    tests/tools/playtest/test_journal.py tests/tools/sandbox/test_conditions.py
    tests/vectorstore/test_store.py)
# Commands that a signal ends.
signals=(tests/test_entry.py tests/app/test_match_stop.py tests/app/test_tournament_stop.py
    tests/tools/sandbox/test_worker.py::test_an_interrupted_request_does_not_leave_its_answer_to_the_next)
# What a user may lack: rights on files and processes. And what a Python may do otherwise.
rights=("${files[@]}" tests/test_entry.py tests/app/test_commands.py tests/app/test_match.py
    tests/tools/sandbox/test_backends.py)
versions=(tests/test_entry.py tests/app/test_commands.py tests/app/test_match.py
    tests/tools/sandbox/test_backends.py tests/tools/guest)

failures=0
first_bytes=

# The name's line is to be run.
is_wanted() {
    local word
    [ ${#wanted[@]} = 0 ] && return 0
    for word in "${wanted[@]}"; do
        case $1 in *"$word"*) return 0 ;; esac
    done
    return 1
}

# line NAME RESULT SECONDS WORDS
line() { printf '%-38s %-8s %4s s   %s\n' "$@"; }

skipped() { is_wanted "$1" && line "$1" skipped 0 "$2"; }

# play FOLDER PYTHON [RUNNER...]: the digest of two seeded series, of every move and every return.
play() {
    local folder=$1 python=$2
    shift 2
    (
        set -e
        export RULEWRIGHT_RUNS=$folder/runs RULEWRIGHT_HOME=$TEST_HOME
        "$@" "$python" -m app.cli match leduc_poker --player random --player ismcts:simulations=30 \
            --games 6 --seed 5 --journal "$folder/match.jsonl"
        "$@" "$python" -m app.cli tournament connect_four --player greedy --player uct:simulations=40 \
            --player random --deals 2 --seed 5 --journal "$folder/tournament.jsonl"
    ) >"$folder/played" 2>&1 || { cat "$folder/played"; return 1; }
    for journal in "$folder"/*.jsonl; do tail -n +2 "$journal"; done | sha256sum | cut -c 1-16
}

# run NAME PYTHON TESTS(an array's name) [RUNNER...]: one line.
run() {
    local name=$1 python=$2 tests=$3[@] began=$SECONDS result=passed folder bytes told
    shift 3
    is_wanted "$name" || return 0
    folder=$(mktemp -d "$work/line.XXXX")
    chmod 777 "$folder"
    bytes=$(play "$folder" "$python" "$@") || result=failed
    : "${first_bytes:=$bytes}"
    [ "$bytes" = "$first_bytes" ] || result=failed
    "$@" "$python" -m pytest -p xdist.plugin -n 2 --dist loadfile -p no:cacheprovider -q \
        -m "not slow and not whole" --basetemp "$folder/tests" "${!tests}" >"$folder/told" 2>&1 </dev/null || result=failed
    told=$(tail -1 "$folder/told")
    line "$name" "$result" $((SECONDS - began)) "${told% in *}"
    if [ "$result" = failed ]; then
        failures=$((failures + 1))
        [ "$bytes" = "$first_bytes" ] || printf '    seeded play gave %s, not %s\n' "$bytes" "$first_bytes"
        grep -E '^(E  |FAILED|ERROR)' "$folder/told" | head -40 | sed 's/^/    /'
    fi
    chmod -R u+w "$folder"
    rm -rf "$folder"
}

has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

make --no-print-directory setup >"$work/setup" 2>&1 || { cat "$work/setup"; exit 1; }
export TEST_HOME=$work/home OPENBLAS_NUM_THREADS=1 LANGSMITH_TRACING=false
RULEWRIGHT_HOME=$TEST_HOME "$python" -m app.cli index >"$work/setup" 2>&1 || { cat "$work/setup"; exit 1; }
chmod -R a+rX "$TEST_HOME"
none=(tests/test_names.py)
run "as it is" "$python" none env
if [ -z "$first_bytes" ]; then
    first_bytes=$(mkdir "$work/first" && play "$work/first" "$python")
fi

run "OPENBLAS_CORETYPE=Prescott" "$python" numbers env OPENBLAS_CORETYPE=Prescott
if has avx2; then
    run "OPENBLAS_CORETYPE=Haswell" "$python" numbers env OPENBLAS_CORETYPE=Haswell
else
    skipped "OPENBLAS_CORETYPE=Haswell" "no avx2 here"
fi
if has avx512f; then
    run "OPENBLAS_CORETYPE=SkylakeX" "$python" numbers env OPENBLAS_CORETYPE=SkylakeX
else
    skipped "OPENBLAS_CORETYPE=SkylakeX" "no avx512 here"
fi
dispatched=$("$python" -c '
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__[name]))')
if [ -n "$dispatched" ]; then
    run "NPY_DISABLE_CPU_FEATURES" "$python" numbers env NPY_DISABLE_CPU_FEATURES="$dispatched"
else
    skipped "NPY_DISABLE_CPU_FEATURES" "numpy has no kernels for this processor but its plain ones"
fi
for level in default avx2 avx512; do
    if ! "$python" -c 'import torch' 2>/dev/null; then
        skipped "ATEN_CPU_CAPABILITY=$level" "no torch here"
    elif [ $level = default ] || has "${level/avx512/avx512f}"; then
        run "ATEN_CPU_CAPABILITY=$level" "$python" networks env ATEN_CPU_CAPABILITY=$level
    else
        skipped "ATEN_CPU_CAPABILITY=$level" "no $level here"
    fi
done
for seed in 0 4242; do
    run "PYTHONHASHSEED=$seed" "$python" orders env PYTHONHASHSEED=$seed
done
run "TZ=Pacific/Kiritimati" "$python" dates env TZ=Pacific/Kiritimati
run "LC_ALL=C" "$python" words env LC_ALL=C
other=$(locale -a 2>/dev/null | grep -vxE 'C|POSIX' | sort | tail -1)
if [ -n "$other" ]; then
    run "LC_ALL=$other" "$python" words env LC_ALL="$other"
else
    skipped "LC_ALL=another" "this machine has no locale but C"
fi
run "umask 077" "$python" files bash -c 'umask 077; exec "$@"' umask
run "SIGINT ignored" "$python" signals bash -c 'trap "" INT HUP; exec "$@"' ignored

# An ordinary user: who cannot write the checkout, with an environment and a home elsewhere.
copied() {
    mkdir "$work/checkout" && git ls-files -z --cached --others --exclude-standard |
        xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh |
        xargs -0 cp --parents -t "$work/checkout" && chmod -R a-w,a+rX "$work/checkout"
}
ordinary() {
    local name="an ordinary user" become=() version site their= candidate
    is_wanted "$name" || return 0
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    if [ "$(id -u)" = 0 ]; then
        become=(setpriv --reuid=64321 --regid=64321 --clear-groups --)
        "${become[@]}" true 2>/dev/null || { skipped "$name" "root cannot become another here"; return; }
    fi
    "${become[@]}" test -r "$site/pytest" || { skipped "$name" "$site is not theirs to read"; return; }
    for candidate in "$(readlink -f "$python")" {/usr,/usr/local}/bin/python"$version"; do
        # By a shell of theirs: what becomes them still has root's rights when it starts a program.
        if "${become[@]}" sh -c '"$0" -c "import venv, sqlite3"' "$candidate" 2>/dev/null; then
            their=$candidate
            break
        fi
    done
    [ -n "$their" ] || { skipped "$name" "no Python $version here that they may run"; return; }
    copied 2>"$work/setup" || { skipped "$name" "no copy: $(tail -1 "$work/setup")"; return; }
    mkdir -m 777 "$work/user"
    "${become[@]}" sh -c "$their -m venv --without-pip $work/user/env && mkdir $work/user/tmp &&
        printf '%s\\n' $work/checkout $site >$work/user/env/lib/python$version/site-packages/all.pth"
    cd "$work/checkout" || return
    run "$name" "$work/user/env/bin/python" rights "${become[@]}" env HOME="$work/user" USER=somebody \
        LOGNAME=somebody TMPDIR="$work/user/tmp" PYTHONPYCACHEPREFIX="$work/user/cache"
    cd "$here" || return
}
ordinary

# The Pythons that the package says it runs on, beside the one that it runs on here.
found() {
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python"$1"; do
        if "$candidate" -c "import sys, venv, ensurepip
sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    timeout 60 "$python" -m uv --no-config python install --quiet --no-bin \
        --install-dir "$work/pythons" "$1" >/dev/null 2>&1
    ls "$work"/pythons/*/bin/python"$1" 2>/dev/null | head -1
}
for version in 3.12 3.13; do
    is_wanted "Python $version" || continue
    began=$SECONDS
    which=$(found $version)
    if [ -z "$which" ]; then
        skipped "Python $version" "not found here, and it could not be installed"
    elif PYTHON=$which scripts/setup.sh "$work/env$version" requirements.lock >"$work/setup" 2>&1; then
        run "Python $version" "$work/env$version/bin/python" versions env
    else
        line "Python $version" failed $((SECONDS - began)) "$(tail -1 "$work/setup")"
        failures=$((failures + 1))
    fi
done

printf '%s failed, %s s in all\n' "$failures" "$SECONDS"
[ "$failures" = 0 ]
