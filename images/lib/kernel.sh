# shellcheck shell=bash
#
# The kernel: Debian's own, unpacked once here instead of at every boot, or one
# that is built here from Debian's source. Each is kept in the cache:
#
#	kernel-WHICH@KEY/ with vmlinux modules/ version package
#
# A vmlinuz is a small loader followed by the compressed kernel. With the ELF
# image inside it QEMU enters the kernel directly, by PVH, and nothing is
# decompressed while a user waits: see doc/images.md for what that saves.

# What each is made from.
declare -A kernel_package=(
	[debian]=linux-image-cloud-amd64
	[own]=linux-source
)

# kernel_depends PACKAGE PREFIX - What a package that only points on points to
kernel_depends()
{
	apt_own apt-cache depends "$1" |
		awk -v prefix="$2" '$1 == "Depends:" &&
			index($2, prefix) == 1 && !found++ { print $2 }'
}

# kernel_find WHICH - Set kernel_entry to the cache's directory for it
#
# "cached" is the own one if that was built, and Debian's, which takes seconds
# instead of minutes, as long as it was not. Of each it is the version that the
# suite's lists have; with --refresh or --offline the newest that is there will
# do, since a new one would be built or fetched.
kernel_find()
{
	local which

	[ "$1" != cached ] || set -- own debian
	if [ -n "$refresh$offline" ]; then
		for which in "$@"; do
			kernel_entry=$(find "$cache" -mindepth 1 -maxdepth 1 \
				-type d -name "$(kernel_prefix "$which")*" |
				sort -V | tail -n 1)
			[ -z "$kernel_entry" ] || return 0
		done
	fi
	apt_prepare "${recipe_suite[0]}"
	for which in "$@"; do
		kernel_entry=$cache/$(kernel_prefix "$which")$(apt_version \
			"${kernel_package[$which]}")
		[ ! -d "$kernel_entry" ] || return 0
	done
}

# kernel_prefix WHICH - What its directory's name has before the version
kernel_prefix()
{
	echo -n "kernel-$1@"
	[ "$1" = debian ] || cat "$images_dir/kernel.config" \
		"$images_dir/lib/kernel_own.sh" | sha256sum | cut -c 1-8 | tr '\n' -
}

# kernel_words - For the command line of every guest with this kernel
#
# What Debian's Linux would do for nothing at each start: test ciphers that
# nobody uses, measure the clock as a source of chance for them, and read
# certificates for signatures that lib/initrd.sh takes off.
kernel_words()
{
	case $kernel_entry in
	*/kernel-debian@*)
		echo cryptomgr.notests
		echo initcall_blacklist=jent_mod_init,load_system_certificate_list
		;;
	esac
}

# kernel_make WORK - Make kernel_entry, if it is not there
kernel_make()
{
	local work=$1

	if [ -d "$kernel_entry" ]; then
		return
	fi
	mkdir -p "$work/kernel-entry"
	case $kernel_entry in
	*/kernel-own@*)
		kernel_own "$work" "$work/kernel-entry"
		;;
	*)
		kernel_debian "$work" "$work/kernel-entry"
		;;
	esac
	mv -T "$work/kernel-entry" "$kernel_entry"
}

# kernel_note PACKAGE ENTRY - A line as lib/contents.py has it
kernel_note()
{
	jq -nc --arg name "$1" --arg version "$(apt_version "$1")" \
		'{name: $name, version: $version,
		  licence: "GPL-2.0-only WITH Linux-syscall-note"}' >"$2/package"
}

# kernel_debian WORK ENTRY - Fetched, not installed, which would bring an
# initramfs builder with it.
kernel_debian()
{
	local work=$1 entry=$2 package version

	package=$(kernel_depends "${kernel_package[debian]}" linux-image-)
	apt_fetch "${package:=${kernel_package[debian]}}" "$work/kernel"
	kernel_unpack "$work"/kernel/boot/vmlinuz-* "$entry/vmlinux"
	version=$(basename "$work"/kernel/boot/vmlinuz-*)
	version=${version#vmlinuz-}
	echo "$version" >"$entry/version"
	mkdir -p "$entry/modules/lib"
	mv "$work"/kernel/usr/lib/modules "$entry/modules/lib/" 2>/dev/null ||
		mv "$work"/kernel/lib/modules "$entry/modules/lib/"
	depmod --basedir "$entry/modules" "$version"
	kernel_note "$package" "$entry"
}

# kernel_field FILE OFFSET BYTES - A little-endian number of its header.
kernel_field()
{
	od --address-radix=n --endian=little --skip-bytes="$2" \
		--read-bytes="$3" --format="u$3" "$1" | tr -d ' '
}

# kernel_unpack VMLINUZ VMLINUX
#
# The offsets are those of "The Linux/x86 Boot Protocol", 2.08 and newer. The
# last four bytes of the payload are the unpacked size.
kernel_unpack()
{
	local vmlinuz=$1 vmlinux=$2 sectors start length size

	sectors=$(kernel_field "$vmlinuz" $((0x1f1)) 1)
	start=$((512 * (sectors + 1) + $(kernel_field "$vmlinuz" $((0x248)) 4)))
	length=$(kernel_field "$vmlinuz" $((0x24c)) 4)
	size=$(kernel_field "$vmlinuz" $((start + length - 4)) 4)

	tail -c +$((start + 1)) "$vmlinuz" | head -c $((length - 4)) |
		kernel_decompress >"$vmlinux" || true
	if [ "$(stat -c %s "$vmlinux")" -ne "$size" ]; then
		die "$vmlinuz cannot be unpacked: its compression is not" \
			"zstd, xz or gzip"
	fi
	kernel_check "$vmlinux"
}

kernel_check()
{
	if ! readelf --notes "$1" 2>/dev/null |
		grep -q 'Xen.*(0x00000012)'; then
		die "the kernel has no PVH entry, so QEMU could not start it"
	fi
}

kernel_decompress()
{
	local packed

	packed=$(mktemp)
	cat >"$packed"
	case $(od -A n -N 4 -t x1 "$packed" | tr -d ' ') in
	28b52ffd)
		zstd -dc --quiet "$packed"
		;;
	fd377a58)
		xz -dc --quiet "$packed"
		;;
	1f8b*)
		gzip -dc --quiet "$packed"
		;;
	esac
	rm -f "$packed"
}

# kernel_modules DIR VERSION MODULE... - Paths of the modules and of what they
# need, in an order in which they can be loaded. Built-in ones have no path.
kernel_modules()
{
	local dir=$1 version=$2 module

	shift 2
	for module in "$@"; do
		modprobe --dirname="$dir" --set-version="$version" \
			--show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
