# bash completion for boxscreen(1); the names come from the tool's own table.
_boxscreen()
{
	local word=${COMP_WORDS[COMP_CWORD]} names command='' candidate i
	names=$(boxscreen help --names 2>/dev/null) || return
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] && continue
		candidate=${command:+$command }${COMP_WORDS[i]}
		grep -q -- "^$candidate\( \|\$\)" <<<"$names" || break
		command=$candidate
	done
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(sed -n "s/^\(${command:-\*}\|\*\) \(--[a-z-]*\).*/\2/p" <<<"$names")" -- "$word")
	elif ! grep -qx -- "$command" <<<"$names"; then
		mapfile -t COMPREPLY < <(compgen -W "$(sed -n "/ --/!s/^${command:+$command }\([^ ]*\).*/\1/p" <<<"$names" | sort -u)" -- "$word")
	fi
}
complete -o default -F _boxscreen boxscreen
