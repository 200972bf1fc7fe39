# shellcheck shell=bash
#
# The root file system: Debian by mmdebstrap, prepared by lib/customize, packed
# as EROFS, and with it the kernel's files. All of it goes into a directory of
# the build cache, so that a new agent alone costs a new initrd alone:
#
#	root.erofs vmlinux modules/ kernel-version packages

# The time of every file. Fixed, so that the same packages give the same bytes.
root_epoch=1754697600
root_uuid=c0901a00-0000-4000-8000-000000000000

# root_mirrors SUITE - apt sources of a Debian suite, from where the host's own
# come from.
root_mirrors()
{
	local suite=$1 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	while read -r label uri; do
		case $label in
		Debian)
			echo "deb [signed-by=$keyring] $uri $suite main"
			echo "deb [signed-by=$keyring] $uri $suite-updates main"
			;;
		Debian-Security)
			echo "deb [signed-by=$keyring] $uri $suite-security main"
			;;
		esac
	done < <(apt-get indextargets --format '$(LABEL) $(REPO_URI)' \
		'Created-By: Packages' 'Component: main' 'Origin: Debian' |
		sort -u)
}

root_sources()
{
	root_mirrors "$recipe_suite" >"$1"
	if ! grep -q "$recipe_suite main" "$1"; then
		die "apt names no Debian mirror: add one to" \
			"/etc/apt/sources.list and run apt-get update"
	fi
}

# root_debian WORK - The tree as WORK/root.tar
root_debian()
{
	local work=$1

	root_sources "$work/sources.list"
	SOURCE_DATE_EPOCH=$root_epoch CUPOLA_KERNEL=$recipe_kernel \
		CUPOLA_EXCLUDE=$recipe_exclude \
		nice mmdebstrap --variant=essential --format=tar \
		--include="${recipe_packages// /,}" --skip=output/dev \
		--customize-hook="$images_dir/lib/customize \"\$1\"" \
		"$recipe_suite" "$work/root.tar" "$work/sources.list"
}

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

# root_pack WORK - WORK/root.tar becomes WORK/tree and WORK/root.erofs
root_pack()
{
	local work=$1 options=()

	if [ "$recipe_compression" != none ]; then
		options+=("-z$recipe_compression")
	fi
	mkdir "$work/tree"
	as_owner tar -xf "$work/root.tar" -C "$work/tree" --numeric-owner
	as_owner mv "$work/tree/.cupola" "$work/cupola"
	as_owner mkdir -p "$work/tree/dev"	# left out by mmdebstrap
	as_owner rm -rf "$work/tree/etc/apt"	# left in by it
	as_owner nice mkfs.erofs --quiet -x-1 -T"$root_epoch" -U"$root_uuid" \
		"${options[@]}" "$work/root.erofs" "$work/tree"
	as_owner rm -rf "$work/tree" "$work/root.tar"
}

root_kernel()
{
	local work=$1 out=$2 kernel=$1/cupola/kernel version

	kernel_unpack "$kernel"/boot/vmlinuz-* "$out/vmlinux"
	version=$(basename "$kernel"/boot/vmlinuz-*)
	echo "${version#vmlinuz-}" >"$out/kernel-version"
	mkdir -p "$out/modules/lib"
	mv "$kernel"/usr/lib/modules "$out/modules/lib/" 2>/dev/null ||
		mv "$kernel"/lib/modules "$out/modules/lib/"
	depmod --basedir "$out/modules" "${version#vmlinuz-}"
	mv "$work/cupola/packages" "$out/packages"
	cat "$work/cupola/kernel-package" >>"$out/packages"
}

# root_finish WORK ENTRY - The last step, by renaming: an entry is whole.
root_finish()
{
	local work=$1 entry=$2

	mkdir "$work/entry"
	root_kernel "$work" "$work/entry"
	mv "$work/root.erofs" "$work/entry/"
	rm -rf "$entry"
	mv "$work/entry" "$entry"
}
