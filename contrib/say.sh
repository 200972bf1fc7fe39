# shellcheck shell=bash
#
# What every script here tells a person: stages with their seconds, and
# failures in one sentence with the remedy. Sourced, never run.
#
# A stage is one command. Its output goes to the log; on a terminal one line
# counts its seconds, elsewhere one line says that it is done. Stages run in a
# subshell, so they hand on what they made as files, never as variables.

say_log=${say_log:-/dev/null}	# where the output of stages goes
say_titles=()			# what say_table prints
say_seconds=()
say_job=
say_status=0			# of the last stage
say_reason=

# die SENTENCE - Give up, for a reason that a person can act on.
#
# Within a stage standard error is the log, so the sentence also goes to a
# file, from where the stage brings it to the person.
die()
{
	printf '%s\n' "$*" >&2
	if [ -n "$say_reason" ]; then
		printf '%s\n' "$*" >"$say_reason"
	fi
	exit 1
}

# show_help - The comment that the script begins with.
show_help()
{
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
	exit 0
}

say_clock()
{
	# Tenths of seconds since an arbitrary start; never set back.
	local up

	read -r up _ </proc/uptime
	up=${up%?}
	echo "${up/./}"
}

say_tenths()
{
	printf '%d.%d' $(($1 / 10)) $(($1 % 10))
}

# say_init - Call once, before the first stage.
say_init()
{
	say_reason=$(mktemp)
	trap say_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# say_at_exit COMMAND... - Also run this when the script ends, however it ends.
say_exit_commands=()
say_at_exit()
{
	say_exit_commands+=("$(printf '%q ' "$@")")
}

say_end()
{
	local status=$? command

	trap - EXIT
	set +e
	if [ -n "$say_job" ]; then
		if [ -t 2 ]; then
			echo >&2	# the line of its seconds stays
		fi
		kill -- -"$say_job" 2>/dev/null
		wait "$say_job" 2>/dev/null
	fi
	for command in "${say_exit_commands[@]}"; do
		eval "$command"
	done
	rm -f "$say_reason"
	exit "$status"
}

say_progress()
{
	local title=$1 start=$2

	while kill -0 "$say_job" 2>/dev/null; do
		printf '\r\033[K%-42s %6s s' "$title" \
			"$(say_tenths $(($(say_clock) - start)))" >&2
		sleep 0.5
	done
	printf '\r\033[K' >&2
}

# stage TITLE COMMAND... - Run a command as a stage; if it fails, so do we.
stage()
{
	stage_try "$@"
	[ "$say_status" -eq 0 ] || stage_failed "$1"
}

# say_need_errexit - Give up where bash ignores "set -e": in all that a condition
# calls, subshells included. A stage there would go on after what fails in it.
say_need_errexit()
{
	local ignored

	ignored=$(
		set +e
		(
			set -e
			false
			echo yes
		)
		true
	)
	[ -z "$ignored" ] || die "a stage is part of a condition"
}

# stage_try TITLE COMMAND... - Run a command as a stage; never as a condition.
#
# Leaves the command's status in say_status and, if it left one, its sentence in
# say_reason.
stage_try()
{
	local title=$1 start took result=''

	shift
	say_need_errexit
	say_status=0
	start=$(say_clock)
	: >"$say_reason"
	printf '== %s\n' "$title" >>"$say_log"
	set -m		# its own process group, so that say_end gets all of it
	(
		trap - EXIT
		set -e
		"$@"
	) >>"$say_log" 2>&1 </dev/null &
	say_job=$!
	set +m
	if [ -t 2 ]; then
		say_progress "$title" "$start"
	fi
	wait "$say_job" || say_status=$?
	say_job=

	took=$(($(say_clock) - start))
	say_titles+=("$title")
	say_seconds+=("$took")
	[ "$say_status" -eq 0 ] || result='  failed'
	printf '%-42s %6s s%s\n' "$title" "$(say_tenths "$took")" \
		"$result" >&2
}

stage_failed()
{
	if [ -s "$say_reason" ]; then
		printf '%s: %s\n' "$1" "$(cat "$say_reason")" >&2
	else
		tail -n 15 "$say_log" >&2
		printf '%s failed; the lines above are the last of %s\n' \
			"$1" "$say_log" >&2
	fi
	exit 1
}

# say_table - How long each stage took, and all together.
say_table()
{
	local i total=0

	for i in "${!say_titles[@]}"; do
		printf '  %-42s %7s s\n' "${say_titles[i]}" \
			"$(say_tenths "${say_seconds[i]}")"
		total=$((total + say_seconds[i]))
	done
	printf '  %-42s %7s s\n' "together" "$(say_tenths "$total")"
}

# need_space DIRECTORY MIB - Refuse before the disk is full, not after.
need_space()
{
	local dir=$1 mib=$2 free

	while [ ! -e "$dir" ]; do
		dir=$(dirname "$dir")
	done
	free=$(df --output=avail -BM "$dir" | tail -n 1 | tr -dc '0-9')
	if [ "$free" -lt "$mib" ]; then
		die "$1 has $free MiB free and this needs $mib:" \
			"free some space, or choose another place"
	fi
}
