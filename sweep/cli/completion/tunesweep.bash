# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of tunesweep for bash. Commands and options are asked of the program itself.

_tunesweep() {
	local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]}
	local command=${COMP_WORDS[1]} option argument
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" help --words 2>/dev/null) --help --version" -- "$cur")
		return
	fi
	while read -r option argument; do
		if [ "$previous" = "$option" ] && [ -n "$argument" ]; then
			[ "${argument#*|}" = "$argument" ] ||
				mapfile -t COMPREPLY < <(compgen -W "${argument//|/ }" -- "$cur")
			[ "${argument#*|}" != "$argument" ] || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
		fi
	done < <("$program" help --words "$command" 2>/dev/null)
	case $cur in
	-*) mapfile -t COMPREPLY < <(compgen -W "$("$program" help --words "$command" 2>/dev/null | cut -d' ' -f1)" -- "$cur") ;;
	*) case $command in
		help) mapfile -t COMPREPLY < <(compgen -W "$("$program" help --words 2>/dev/null)" -- "$cur") ;;
		list | show) mapfile -t COMPREPLY < <(compgen -W "$("$program" list 2>/dev/null | cut -d' ' -f1)" -- "$cur") ;;
		*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		esac ;;
	esac
}
complete -o filenames -F _tunesweep tunesweep
