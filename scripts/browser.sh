#!/bin/sh
# What the browser tests need beside the locked packages: browser.sh FOLDER
set -eu
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}"
venv=$1
"$venv/bin/python" -m uv --no-config pip install --quiet --python "$venv/bin/python" \
    --require-hashes -r requirements-browser.lock

for name in "${RULEWRIGHT_BROWSER:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "test-browser: no Chromium here; installing Debian's" >&2
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >&2
else
    echo "test-browser: needs Chromium; on Debian: apt-get install chromium," >&2
    echo "or name one with RULEWRIGHT_BROWSER=/path/to/chromium" >&2
    exit 2
fi
