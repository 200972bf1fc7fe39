# shellcheck shell=bash
#
# The manifest: what an image is, for cupola-vmd and for people. Its digest
# covers all that a guest runs, so two images with one digest are the same.

manifest_parts=(vmlinux initrd root.erofs)

# manifest_digest DIR - sha256 over the parts' own digests and the command line
manifest_digest()
{
	local dir=$1

	{
		(cd "$dir" && cut -d ' ' -f 1 digests)
		echo "$recipe_cmdline"
	} | sha256sum | cut -d ' ' -f 1
}

# manifest_files DIR - The parts with size and digest, as JSON
manifest_files()
{
	local dir=$1 digest name

	while read -r digest name; do
		jq -n --arg name "$name" --arg digest "sha256:$digest" \
			--argjson size "$(stat -c %s "$dir/$name")" \
			'{($name): {digest: $digest, size: $size}}'
	done <"$dir/digests" | jq -s add
}

# manifest_packages FILE - Lines "package version" as JSON
manifest_packages()
{
	LC_ALL=C sort "$1" |
		jq -R 'split(" ") | {(.[0]): .[1]}' | jq -s add
}

manifest_builders()
{
	jq -n --arg mmdebstrap "$(mmdebstrap --version | cut -d ' ' -f 2)" \
		--arg erofs "$(mkfs.erofs --version 2>&1 | awk 'NR == 1 { print $NF }')" \
		--arg qemu "$(qemu-system-x86_64 --version | awk 'NR == 1 { print $4 }')" \
		'{mmdebstrap: $mmdebstrap, "mkfs.erofs": $erofs, qemu: $qemu}'
}

# manifest_write NAME ENTRY DIR - DIR/manifest.json; DIR/digests is there
manifest_write()
{
	local name=$1 entry=$2 dir=$3

	jq -n --arg name "$name" \
		--arg digest "sha256:$(manifest_digest "$dir")" \
		--arg built_at "$(date --utc +%Y-%m-%dT%H:%M:%SZ)" \
		--arg suite "$recipe_suite" \
		--arg kernel "$(cat "$entry/kernel-version")" \
		--arg cmdline "$recipe_cmdline" \
		--arg preimport "$recipe_preimport" \
		--argjson size "$(cd "$dir" && stat -c %s "${manifest_parts[@]}" |
			jq -s add)" \
		--argjson files "$(manifest_files "$dir")" \
		--argjson packages "$(manifest_packages "$entry/packages")" \
		--argjson builders "$(manifest_builders)" \
		'{name: $name, digest: $digest, built_at: $built_at,
		  suite: $suite, kernel: $kernel, cmdline: $cmdline,
		  size: $size, preimport: ($preimport | split(" ")),
		  files: $files, builders: $builders,
		  packages: $packages}' >"$dir/manifest.json"
}
