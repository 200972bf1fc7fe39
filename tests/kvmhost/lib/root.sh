# shellcheck shell=bash
#
# The root file system of the host in the box, and of the tree to build packages
# in. Both are made once for a recipe, which is this file and what the packages
# say that they depend on, since neither has a network later.

host_suite=trixie
host_packages=(
	systemd-sysv dbus udev kmod linux-image-cloud-amd64 procps
	libvirt-daemon-system libvirt-clients polkitd qemu-system-x86
	apparmor adduser debconf e2fsprogs curl jq python3
)
builder_packages=(fakeroot lintian)
# Sparse.
host_disk_bytes=3G

# package_names - The packages of a dependency field, first choices, without
# versions and without what only tests need
package_names()
{
	tr ',' '\n' | sed -n -e '/<!nocheck>/d' \
		-e 's/^[[:space:]]*\([a-z0-9][a-z0-9.+-]*\).*/\1/p' | sort -u
}

# recipe_key WORD... - Of the recipe, and of WORDs that belong to it
recipe_key()
{
	{
		cat "$here/lib/root.sh"
		printf '%s\n' "$@"
	} | sha256sum | head -c 12
}

# host_find - Set host, after the packages are there
host_find()
{
	local deb names

	deb=$(echo "$packages"/cupola_*.deb)
	[ -e "$deb" ] || die "$packages has no package cupola, or many"
	names=$(dpkg-deb --field "$deb" Pre-Depends Depends |
		sed 's/^[A-Z][A-Za-z-]*://' | package_names)
	mapfile -t -O "${#host_packages[@]}" host_packages <<<"$names"
	host=$cache/host@$(recipe_key "${host_packages[@]}" \
		"$(cat "$here/guest/job.service" "$here/guest/warm/run")")
}

builder_find()
{
	local names

	names=$(awk '/^#/ { next }
		/^[^[:space:]]/ { on = 0 }
		sub(/^Build-Depends:/, "") { on = 1 }
		on' "$source_dir/debian/control" | package_names)
	mapfile -t -O "${#builder_packages[@]}" builder_packages <<<"$names"
	builder=$cache/builder@$(recipe_key "${builder_packages[@]}")
}

# tree_remove DIRECTORY... - Unless something is mounted there, which would be
# emptied with it
tree_remove()
{
	local tree mounted

	for tree in "$@"; do
		[ -e "$tree" ] || continue
		tree=$(realpath "$tree")
		mounted=$(awk -v dir="$tree" '$5 == dir ||
			index($5, dir "/") == 1 { print $5 }' /proc/self/mountinfo)
		[ -z "$mounted" ] ||
			die "$tree is not removed: unmount" "${mounted//$'\n'/ }"
		rm -rf "$tree"
	done
}

# debian_tree DIRECTORY VARIANT PACKAGE...
#
# What is mounted there ends with the process, however that ends.
debian_tree()
{
	local tree=$1 variant=$2 list

	shift 2
	apt_mirrors "$host_suite" >"$work/sources.list"
	list=$(printf ',%s' "$@")
	nice unshare --mount mmdebstrap --variant="$variant" --format=directory \
		--aptopt='APT::Install-Recommends "false"' \
		--include="${list:1}" "$host_suite" "$tree" \
		"$work/sources.list"
}

# Whoever waits for a network, or works at night, has no place in the box.
host_units_off=(
	apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer
	e2scrub_all.timer fstrim.timer logrotate.timer man-db.timer
	systemd-networkd.service systemd-timesyncd.service
	serial-getty@ttyS0.service getty@tty1.service libvirt-guests.service
)

host_prepare_tree()
{
	local tree=$1

	echo kvmhost >"$tree/etc/hostname"
	echo '127.0.0.1 localhost kvmhost' >"$tree/etc/hosts"
	echo '/dev/nvme0n1 / ext4 defaults 0 0' >"$tree/etc/fstab"
	mkdir -p "$tree/job" "$tree/var/log/journal"
	cp "$here/guest/job.service" "$tree/etc/systemd/system/"
	ln -s ../job.service \
		"$tree/etc/systemd/system/multi-user.target.wants/job.service"
	chroot "$tree" systemctl mask "${host_units_off[@]}"
	# The network of libvirt's own is for others' VMs.
	rm -f "$tree/etc/libvirt/qemu/networks/autostart/default.xml"
}

# host_take_emulator TREE - QEMU of that tree, with its libraries and firmware.
#
# That of Debian 12 had the box stand still for good once, while two guests
# started at once in it: it halted and no timer's interrupt came any more. Its
# successors run the box twice as fast, too.
host_take_emulator()
{
	local tree=$1 files

	mapfile -t files < <(chroot "$tree" ldd /usr/bin/qemu-system-x86_64 |
		grep -o '/[^ ]*')
	mkdir -p "$host/emulator"
	(
		cd "$tree"
		cp -L --parents usr/bin/qemu-system-x86_64 "${files[@]/#/.}" \
			"$host/emulator"
		cp -r --parents usr/share/qemu usr/share/seabios \
			"$host/emulator"
	)
}

# A directory whose file "whole" says that nothing is missing.
host_build()
{
	local tree=$work/host

	tree_remove "$cache"/host@*
	mkdir -p "$host"
	debian_tree "$tree" important "${host_packages[@]}"
	host_prepare_tree "$tree"
	host_take_emulator "$tree"
	kernel_unpack "$tree"/boot/vmlinuz-* "$host/vmlinux"
	rm -f "$tree"/boot/vmlinuz-* "$tree"/boot/initrd.img-*
	truncate -s "$host_disk_bytes" "$host/root.ext4"
	mkfs.ext4 -q -F -d "$tree" "$host/root.ext4"
	tree_remove "$tree"
}

# libvirt asks QEMU what it can do, which takes it seconds here, once for all.
host_warm()
{
	machine_job_disk_of "$here/guest/warm"
	machine_boot "$host/root.ext4" off "$work/warm.log" 600
	grep -q '^kvmhost: done' "$work/warm.log" ||
		die "the new host does not boot: $(tail -n 3 "$work/warm.log")"
	: >"$host/whole"
}

builder_build()
{
	tree_remove "$cache"/builder@*
	debian_tree "$builder" buildd "${builder_packages[@]}"
	: >"$builder/whole"
}
