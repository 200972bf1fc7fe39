# shellcheck shell=bash
#
# Programs of a tree that is becoming a root file system: run steps of a recipe,
# and Python of a root that somebody else made. They see the tree and nothing of
# the host: no file, no process, no network, no VM, and as root no more than root
# of a tree needs.

sandbox_filter=$(dirname "${BASH_SOURCE[0]}")/sandbox_filter.py

# as_owner COMMAND... - Run where files can belong to anybody: as root, or as
# root of a user namespace.
as_owner()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		unshare --user --map-auto --map-root-user "$@"
	fi
}

# sandbox_run TREE COMMAND... - Run a program of the tree, in the tree
sandbox_run()
{
	local tree=$1 options=() capability

	shift
	for capability in CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID; do
		options+=(--cap-add "CAP_$capability")
	done
	as_owner bwrap --seccomp 9 --unshare-ipc --unshare-pid --unshare-net --unshare-uts \
		--unshare-cgroup-try --die-with-parent --new-session \
		--bind "$tree" / --proc /proc --remount-ro /proc --dev /dev --tmpfs /tmp \
		--tmpfs /run --cap-drop ALL "${options[@]}" --chdir / \
		--clearenv --setenv HOME /root --setenv LC_ALL C.UTF-8 \
		--setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		--setenv PYTHONHASHSEED 0 --setenv PYTHONDONTWRITEBYTECODE 1 \
		--setenv SOURCE_DATE_EPOCH "$root_epoch" "$@" \
		9< <(python3 -I "$sandbox_filter")
}
