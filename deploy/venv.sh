# shellcheck shell=sh
# Sourced by deploy/run, tests/run and .ci/run, which set `root` (the checkout) first.
#
#   make_venv NAME EXTRAS   makes or repairs the virtual environment $root/NAME with this project in it and sets `venv`
#                           to its path. EXTRAS is empty or as in "test,check".
#
# The project is installed editable: its sources are used where they stand, so only a change of pyproject.toml, of the
# extras or of the checkout's place asks for a new install. A stamp, written last, tells whether that is done; an
# environment without its stamp was left half made and is made anew. Standard output stays the caller's own.

: "${root:?names the checkout and is set by whoever sources this file}"

say() {
    printf '%s\n' "$*" >&2
}

# Sets `python` to the first Python that is new enough and can make virtual environments. WAYBREAD_PYTHON comes first.
find_python() {
    bare=
    for python in ${WAYBREAD_PYTHON:+"$WAYBREAD_PYTHON"} python3.13 python3.12 python3.11 python3; do
        # Run, not only looked up: a version manager's stand-in can be on the path with no Python behind it.
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
        "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 && return 0
        bare=${bare:-$python}
    done
    if [ -n "$bare" ]; then
        say "waybread: $bare cannot make virtual environments (its venv or ensurepip module is missing)." \
            "Install it (on Debian and Ubuntu: apt install python3-venv) and run this again."
    else
        say "waybread: no Python 3.11 or newer was found." \
            "Install one, or name it in the variable WAYBREAD_PYTHON, and run this again."
    fi
    return 1
}

# What the environment was made from. An environment cannot be moved, so its own place stands first.
wanted_stamp() {
    printf '%s\n[%s]\n' "$venv" "$extras"
    cksum <"$root/pyproject.toml"
}

is_ready() {
    # A Python that was removed leaves a dangling link behind, which -x sees.
    [ -x "$venv/bin/python" ] && [ -f "$venv/stamp" ] && [ "$(cat "$venv/stamp")" = "$(wanted_stamp)" ]
}

# The lock is on the open file 9, which this shell holds: it ends with the shell and the pip under it, however they end.
lock_venv() {
    exec 9>"$venv.lock"
    "$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)' 2>/dev/null && return 0
    say "waybread: another run is setting up $venv; waiting for it."
    "$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
}

make_venv() {
    venv=$root/$1
    extras=$2
    is_ready && return 0
    if [ ! -w "$root" ]; then
        say "waybread: $root cannot be written to, and the virtual environment $1 belongs there." \
            "Make it writable, or use a checkout of your own."
        return 1
    fi
    find_python || return 1
    lock_venv || return 1
    if ! is_ready; then
        fill_venv || return 1
    fi
    exec 9>&-
}

fill_venv() {
    say "waybread: setting up $venv with $("$python" -V) (first use, or pyproject.toml has changed)."
    log=$venv.log
    # An environment that was complete is brought up to date in place: a daemon may be running from it.
    if [ -x "$venv/bin/python" ] && [ -f "$venv/stamp" ] && [ "$(head -n 1 "$venv/stamp")" = "$venv" ]; then
        clear=
    else
        clear=--clear
    fi
    rm -f "$venv/stamp"
    if [ -n "$clear" ] && ! "$python" -m venv --clear "$venv" >"$log" 2>&1; then
        cat "$log" >&2
        say "waybread: $python could not make a virtual environment in $venv; its own words are above."
        return 1
    fi
    if ! PIP_USER=0 "$venv/bin/python" -m pip install --no-input --disable-pip-version-check \
        --editable "$root${extras:+[$extras]}" >"$log" 2>&1; then
        cat "$log" >&2
        say "waybread: pip could not install what Waybread needs; its own words are above." \
            "Check the network connection and run this again: it starts afresh."
        return 1
    fi
    rm -f "$log"
    wanted_stamp >"$venv/stamp.new" && mv "$venv/stamp.new" "$venv/stamp"
}
