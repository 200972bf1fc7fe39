# shellcheck shell=bash
#
# The root file system of the host in the box, and of the tree to build packages
# in. Both are made once for a recipe, which is this file.

host_suite=trixie
# What the package "cupola" depends on is here, since the host has no network.
host_packages=(
	systemd-sysv dbus udev kmod linux-image-cloud-amd64 procps
	libvirt-daemon-system libvirt-clients polkitd qemu-system-x86
	apparmor adduser debconf e2fsprogs curl jq python3
	libarchive13t64 libcurl3t64-gnutls libgnutls30t64 libinih1 libjson-c5
	libmagic1t64 libmicrohttpd12t64 libnettle8t64 libsqlite3-0
	libunistring5 libxml2
)
builder_packages=(
	autoconf automake debhelper fakeroot gcc lintian make pkgconf
	libarchive-dev libcmocka-dev libcurl4-gnutls-dev libgnutls28-dev
	libinih-dev libjson-c-dev libmagic-dev libmicrohttpd-dev
	libseccomp-dev libsqlite3-dev libsystemd-dev libunistring-dev
	libvirt-dev libxml2-dev nettle-dev
)
# Sparse.
host_disk_bytes=3G

recipe_suite=$host_suite	# for root_sources

# Of this recipe, and of what runs in the host before there is a job.
host_key()
{
	cat "$here/lib/root.sh" "$here/guest/job.service" | sha256sum | head -c 12
}

host_find()
{
	host=$cache/host@$(host_key)
}

builder_find()
{
	builder=$cache/builder@$(sha256sum <"$here/lib/root.sh" | head -c 12)
}

# debian_tree DIRECTORY VARIANT PACKAGE...
debian_tree()
{
	local tree=$1 variant=$2 list

	shift 2
	root_sources "$work/sources.list"
	list=$(printf ',%s' "$@")
	nice mmdebstrap --variant="$variant" --format=directory \
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

# A directory whose file "whole" says that nothing is missing.
host_build()
{
	local tree=$work/host

	rm -rf "$cache"/host@*
	mkdir -p "$host"
	debian_tree "$tree" important "${host_packages[@]}"
	host_prepare_tree "$tree"
	kernel_unpack "$tree"/boot/vmlinuz-* "$host/vmlinux"
	rm -f "$tree"/boot/vmlinuz-* "$tree"/boot/initrd.img-*
	truncate -s "$host_disk_bytes" "$host/root.ext4"
	mkfs.ext4 -q -F -d "$tree" "$host/root.ext4"
	rm -rf "$tree"
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
	rm -rf "$cache"/builder@*
	debian_tree "$builder" buildd "${builder_packages[@]}"
	: >"$builder/whole"
}
