#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Prints the manual page of one command, or of the program without one: what the program's own
# tables give (help --mdoc), with the hand-written text of COMMAND.mdoc in its places.
#   page.sh PROGRAM DATE [COMMAND]
set -eu
program=$1 date=$2 command=${3:-}
here=$(dirname "$0")
if [ -z "$command" ]; then
	printf '.Dd %s\n.Dt TUNESWEEP 1\n.Os\n' "$date"
	sed '/^\.\\" COMMANDS$/,$d' "$here/tunesweep.mdoc"
	"$program" help --mdoc
	sed '1,/^\.\\" COMMANDS$/d' "$here/tunesweep.mdoc"
	exit 0
fi
text=$here/$command.mdoc
[ -e "$text" ] || { echo "page.sh: $text is not there" >&2; exit 1; }
table=$("$program" help --mdoc "$command")
upper=$(printf %s "$command" | tr '[:lower:]' '[:upper:]')
printf '.Dd %s\n.Dt TUNESWEEP-%s 1\n.Os\n' "$date" "$upper"
printf '%s\n.Sh DESCRIPTION\n' "$table" | sed '/^\.\\" TEXT$/,/^\.El$/d'
sed '/^\.\\" OPTIONS$/,$d' "$text"
printf '%s\n' "$table" | sed '1,/^\.\\" TEXT$/d'
rest=$(sed '1,/^\.\\" OPTIONS$/d' "$text")
case $rest in
*"EXIT STATUS"*) ;;
*) cat <<'EOF'
.Sh EXIT STATUS
.Bl -tag -width Ds -compact
.It 0
done, or the answer is yes.
.It 1
the answer is no.
.It 2
a usage, spec or profile error.
.It 3
the system refuses: permission, missing device, host not reached.
.It 4
something could not be restored; each value is named.
.It 130
interrupted, and rolled back.
.El
EOF
;;
esac
[ -z "$rest" ] || printf '%s\n' "$rest"
printf '.Sh SEE ALSO\n.Xr tunesweep 1\n'
