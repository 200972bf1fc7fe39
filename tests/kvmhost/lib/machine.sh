# shellcheck shell=bash
#
# Booting the box. Its root is thrown away afterwards; what it reads is a disk
# "job", what it leaves behind comes as an archive on a disk "out".
#
# One processor: with two of them, one boot in twenty of a guest in the box went
# wrong, and so did a boot of the box now and then. So there is a hard limit of
# time, and one more try.
#
# The clock is ACPI's, which stands still when this machine does. The emulated TSC
# is this processor's own: it runs on, and every time limit in the box would be
# over. The HPET, after a warm start, had the box stuck for its whole period.

machine_seconds=${KVMHOST_SECONDS:-5400}

# machine_boot ROOT SNAPSHOT LOG SECONDS
machine_boot()
{
	local root=$1 snapshot=$2 log=$3 seconds=$4
	local emulator=$host/emulator

	truncate -s 0 "$work/out.tar"
	truncate -s 256M "$work/out.tar"
	timeout --kill-after=5 "$seconds" \
		"$emulator/lib64/ld-linux-x86-64.so.2" \
		--library-path "$emulator/lib/x86_64-linux-gnu" \
		"$emulator/usr/bin/qemu-system-x86_64" \
		-L "$emulator/usr/share/qemu" -L "$emulator/usr/share/seabios" \
		-nodefaults -display none -M q35,usb=off \
		-accel tcg,thread=multi,tb-size=256 -cpu max,-la57,-pku \
		-smp 1 -m 2048 -kernel "$host/vmlinux" \
		-append "root=/dev/nvme0n1 rw rootfstype=ext4 console=ttyS0 \
loglevel=4 panic=-1 mitigations=off nokaslr hpet=disable clocksource=acpi_pm no_timer_check \
random.trust_cpu=on systemd.show_status=0 apparmor=1 security=apparmor" \
		-drive "if=none,id=r,file=$root,format=raw,snapshot=$snapshot,cache=unsafe" \
		-device nvme,drive=r,serial=root \
		-drive "if=none,id=j,file=$work/job.ext4,format=raw,snapshot=on,cache=unsafe" \
		-device virtio-blk,drive=j,serial=job \
		-drive "if=none,id=o,file=$work/out.tar,format=raw,cache=unsafe" \
		-device virtio-blk,drive=o,serial=out \
		-serial stdio </dev/null >"$log" 2>&1 || true
}

# machine_job_disk_of DIRECTORY
machine_job_disk_of()
{
	truncate -s 1G "$work/job.ext4"
	mkfs.ext4 -q -F -d "$1" "$work/job.ext4"
}

# machine_client CPIO - What makes of an image's initrd a VM with just a client
machine_client()
{
	mkdir "$work/client"
	cc -std=gnu11 -O2 -Wall -Wextra -Werror -static -o "$work/client/init" \
		"$here/guest/vsock_client.c"
	(
		cd "$work/client"
		echo init | cpio --quiet --create --format=newc --owner=+0:+0
	) >"$1"
}

machine_job_disk()
{
	local disk=$work/job

	mkdir -p "$disk/images"
	cp "$packages"/*.deb "$disk/"
	cp "$here"/guest/*.py "$here/guest/run" "$disk/"
	machine_client "$disk/client.cpio"
	cp -RL --preserve=mode "$image" "$disk/images/python-minimal"
	[ ${#jobs[@]} -eq 0 ] || printf '%s\n' "${jobs[@]}" >"$disk/jobs"
	machine_job_disk_of "$disk"
	tree_remove "$disk"
}

# machine_results - From the console: after a restart, what the firmware says to
# a terminal stands in front of the first
machine_results()
{
	tr -d '\r' | sed -n 's/^[^ ]*tap: //p'
}

# machine_is_whole - Whether there is a result for each test of the plan
machine_is_whole()
{
	awk -F '\.\.' '/^1\.\./ { plan = $2 } /^(not )?ok / { results++ }
		END { exit !(plan > 0 && results == plan) }' "$out/tap"
}

machine_try()
{
	local try

	for try in 1 2; do
		machine_boot "$host/root.ext4" on "$out/console.$try" \
			"$machine_seconds"
		tar -C "$out" -xf "$work/out.tar" || true
		if grep -q '^kvmhost: done' "$out/console.$try"; then
			machine_results <"$out/console.$try" >"$out/tap"
			return
		fi
	done
	die "the host in the box did not come to an end, twice; see" \
		"$out/console.1 and $out/console.2"
}
