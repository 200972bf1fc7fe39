# The KVM host in a box; run by contrib/check --kvm-host.

EXTRA_DIST += \
	%reldir%/guest/host.py \
	%reldir%/guest/job.service \
	%reldir%/guest/jobs.py \
	%reldir%/guest/run \
	%reldir%/guest/test_fleet.py \
	%reldir%/guest/test_install.py \
	%reldir%/guest/test_removal.py \
	%reldir%/guest/test_restart.py \
	%reldir%/guest/test_session.py \
	%reldir%/guest/test_vsock.py \
	%reldir%/guest/vsock_client.c \
	%reldir%/guest/warm/run \
	%reldir%/lib/machine.sh \
	%reldir%/lib/package.sh \
	%reldir%/lib/root.sh \
	%reldir%/run
