# shellcheck shell=bash
#
# The packages, built from the files of this tree where Debian 13 has them built.

# Without tests: these have run on this host.
package_build()
{
	local tree=$builder/build

	tree_remove "$tree" "$out/packages"
	mkdir -p "$tree/src" "$out/packages"
	cd "$source_dir"
	git -c safe.directory="$source_dir" ls-files -z |
		tar -c --null -T - | tar -x -C "$tree/src"
	in_builder dpkg-buildpackage -b -us -uc -rfakeroot -Pnocheck
	in_builder sh -c 'lintian --fail-on error --tag-display-limit 0 ../*.changes'
	mv "$tree"/*.deb "$out/packages/"
	tree_remove "$tree"
}

# in_builder COMMAND... - In the source tree there; what is mounted for it ends
# with it
in_builder()
{
	unshare --mount --pid --fork sh -c '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		exec nice chroot "$root" env -C /build/src LC_ALL=C.UTF-8 "$@"
	' sh "$builder" "$@"
}
