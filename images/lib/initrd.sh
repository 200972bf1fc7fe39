# shellcheck shell=bash
#
# The initrd: the guest agent and all that it needs before it has a root file
# system, and its runner, so that these two change without a new root:
#
#	/init /runner.py /preimport /modules/*.ko /modules/order
#
# preimport has the recipe's environment, NAME=value, and then its modules.
# A module is there uncompressed: the agent hands it to the kernel as it is. It
# is there without Debian's signature, which is no protection here, where whoever
# could change a module could change the kernel: the image's digest covers both.
# To check the signatures took as many instructions as a third of the guest's
# whole start.

# initrd_modules - What images/modules names, without its comments.
initrd_modules()
{
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$images_dir/modules"
}

# initrd_copy_modules TREE - None of a kernel that has all of it built in
initrd_copy_modules()
{
	local tree=$1 path name names

	[ -d "$kernel_entry/modules" ] || return 0

	mkdir "$tree/modules"
	mapfile -t names < <(initrd_modules | tr -d ' \t')
	kernel_modules "$kernel_entry/modules" "$(cat "$kernel_entry/version")" \
		"${names[@]}" >"$tree/../module-paths"
	while read -r path; do
		name=$(basename "$path")
		name=${name%.xz}
		case $path in
		*.xz)
			xz -dc "$path" >"$tree/modules/$name"
			;;
		*)
			cp "$path" "$tree/modules/$name"
			;;
		esac
		# The signature is behind the end of the ELF file, and goes.
		strip --strip-debug --remove-section=.BTF \
			"$tree/modules/$name"
		echo "$name" >>"$tree/modules/order"
	done <"$tree/../module-paths"
}

# initrd_build AGENT RUNNER WORK - The result is WORK/initrd
initrd_build()
{
	local agent=$1 runner=$2 work=$3 tree=$3/initrd-tree

	mkdir "$tree"
	# Without what tells one build directory from another.
	strip --remove-section=.note.gnu.build-id -o "$tree/init" "$agent"
	chmod 0755 "$tree/init"
	install -m 0644 "$runner" "$tree/runner.py"
	root_lines "${recipe_environment[@]}" "${recipe_preimport[@]}" \
		>"$tree/preimport"
	mkdir "$tree/dev" "$tree/proc" "$tree/sys" "$tree/root"
	initrd_copy_modules "$tree"

	# The same files give the same bytes, and so the same image digest.
	find "$tree" -exec touch --no-dereference --date="@$root_epoch" {} +
	chmod -R go-w "$tree"
	(
		cd "$tree"
		find . -mindepth 1 | LC_ALL=C sort |
			cpio --quiet --create --format=newc --owner=+0:+0 \
				--reproducible
	) >"$work/initrd"
}
