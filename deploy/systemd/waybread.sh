#!/bin/sh
# Waybread's commands on the data of the service, as the user who owns them. `deploy/install` puts this file into
# /usr/local/bin as `waybread`; a file that root made in the data folder would be one that the daemon cannot open.
set -eu

program=/opt/waybread/current/bin/waybread

# These touch no data folder: whoever asks may run them.
case ${1:-} in
'' | help | -h | --help | --version | demo | conformance) exec "$program" "$@" ;;
esac

WAYBREAD_DATA=/var/lib/waybread
HOME=$WAYBREAD_DATA
export WAYBREAD_DATA HOME
case $(id -un) in
waybread) exec "$program" "$@" ;;
root) exec runuser -u waybread -- "$program" "$@" ;;
esac
printf '%s\n' "waybread: the data of this machine belong to the user waybread: run \`sudo waybread $*\`" >&2
exit 1
