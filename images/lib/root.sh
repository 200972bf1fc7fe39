# shellcheck shell=bash
#
# The root file system: Debian's packages by mmdebstrap, or a tree that somebody
# else made, settled by lib/settle, packed as EROFS. It goes into a directory of
# the build cache, so that a new agent alone costs a new initrd alone:
#
#	root.erofs packages python

# The time of every file. Fixed, so that the same packages give the same bytes.
root_epoch=1754697600
root_uuid=c0901a00-0000-4000-8000-000000000000

# root_tar WORK - The tree, not settled yet, as WORK/root.tar
root_tar()
{
	local work=$1

	if [ "${#recipe_root[@]}" -gt 0 ]; then
		"$images_dir/lib/foreign.py" "${recipe_root[0]}" "$work/root.tar"
	else
		root_debian "$work"
	fi
}

# Lists and packages come from the cache, and packages that it lacks go there.
root_debian()
{
	local work=$1 skip=()

	if [ -n "$offline" ]; then
		skip=(--aptopt='Acquire::http::Proxy "http://127.0.0.1:9/"')
	fi
	SOURCE_DATE_EPOCH=$root_epoch nice mmdebstrap --variant=essential \
		--format=tar --include="$(IFS=, && echo "${recipe_packages[*]}")" \
		--skip=output/dev --skip=update --skip=download/empty \
		--skip=essential/unlink \
		"${skip[@]}" \
		--setup-hook="mkdir -p \"\$1/var/lib/apt/lists\" \"\$1/var/cache/apt/archives\"" \
		--setup-hook="cp -a \"$apt_dir/lists/.\" \"\$1/var/lib/apt/lists/\"" \
		--setup-hook="cp -a \"$apt_dir/archives/.\" \"\$1/var/cache/apt/archives/\"" \
		--customize-hook="cp -n \"\$1\"/var/cache/apt/archives/*.deb \"$apt_dir/archives/\"" \
		"${recipe_suite[0]}" "$work/root.tar" "$apt_dir/sources.list"
}

root_unpack()
{
	local work=$1

	mkdir "$work/tree"
	as_owner tar -xf "$work/root.tar" -C "$work/tree" --numeric-owner
	rm "$work/root.tar"
}

# One a line, whatever else is in them.
root_lines()
{
	[ $# -eq 0 ] || printf '%s\n' "$@"
}

# "SOURCE<tab>PATH" of each two words
root_pairs()
{
	[ $# -eq 0 ] || printf '%s\t%s\n' "$@"
}

root_settle()
{
	local work=$1

	if [ "${#recipe_wheels[@]}" -gt 0 ]; then
		apt_fetch python3-pip-whl "$work/pip"
	fi
	# Before anything is excluded: licences lie among the documentation.
	as_owner "$images_dir/lib/contents.py" "$work/tree" >"$work/packages"
	CUPOLA_FILES=$(root_pairs "${recipe_files[@]}") \
		CUPOLA_WHEELS=$(root_lines "${recipe_wheels[@]}") \
		CUPOLA_RUN=$(root_lines "${recipe_run[@]}") \
		CUPOLA_EXCLUDE=$(root_lines "${recipe_exclude[@]}") \
		CUPOLA_PIP=$work/pip/usr/share/python-wheels \
		SOURCE_DATE_EPOCH=$root_epoch \
		as_owner "$images_dir/lib/settle" "$work/tree"
	as_owner "$images_dir/lib/contents.py" --wheels "$work/tree" \
		>>"$work/packages"
	root_check_python "$work"
}

# What the agent starts: see guest-agent/zygote.c and runner.py.
root_check_python()
{
	local work=$1 found

	found=$(sandbox_run "$work/tree" /usr/bin/python3 -I -c '
import sys
print("%d.%d" % sys.version_info[:2])
import IPython.core.interactiveshell' 2>&1 </dev/null) || {
		case $found in
		*"No module named 'IPython'"*)
			die "Python of this image lacks IPython:" \
				"add python3-ipython, or its wheels"
			;;
		*)
			die "this image has no /usr/bin/python3 that runs:" \
				"$(tail -n 1 <<<"$found")"
			;;
		esac
	}
	if [ "$(printf '%s\n' 3.11 "$found" | sort -V | head -n 1)" != 3.11 ]; then
		die "this image has Python $found, and the guest agent needs" \
			"3.11 or newer"
	fi
	echo "$found" >"$work/python"
}

# root_pack WORK ENTRY - The last step, by renaming: an entry is whole.
root_pack()
{
	local work=$1 entry=$2 options=()

	if [ "${recipe_compression[0]}" != none ]; then
		options+=("-z${recipe_compression[0]}")
	fi
	mkdir "$work/entry"
	as_owner nice mkfs.erofs --quiet -x-1 -T"$root_epoch" -U"$root_uuid" \
		"${options[@]}" "$work/entry/root.erofs" "$work/tree"
	as_owner rm -rf "$work/tree"
	mv "$work/packages" "$work/python" "$work/entry/"
	rm -rf "$entry"
	mv "$work/entry" "$entry"
}

# root_preflight - Refuse before anything is fetched if the disk is too small
root_preflight()
{
	local mib=2000 size

	if [ "${#recipe_root[@]}" -gt 0 ]; then
		size=${recipe_root[0]#*:}
		size=$(du -sm "${size%%:*}" | cut -f 1)
		mib=$((mib + size * 6))
	elif [ "${#recipe_packages[@]}" -gt 3 ]; then
		mib=$((mib + 40 * ${#recipe_packages[@]}))
	fi
	need_space "$cache" "$mib"
	need_space "$out" "$((mib / 3))"
}
