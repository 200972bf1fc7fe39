# shellcheck shell=bash
#
# The kernel: Debian's own, unpacked once here instead of at every boot.
#
# A vmlinuz is a small loader followed by the compressed kernel. With the ELF
# image inside it QEMU enters the kernel directly, by PVH, and nothing is
# decompressed while a user waits: see doc/images.md for what that saves.

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
	if ! readelf --notes "$vmlinux" 2>/dev/null |
		grep -q 'Xen.*(0x00000012)'; then
		die "$vmlinuz has no PVH entry, so QEMU could not start it"
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
