# shellcheck shell=bash
#
# The manifest: what an image is, for cupola-vmd and for people. Its digest
# covers all that a guest runs, so two images with one digest are the same.

manifest_parts=(vmlinux initrd root.erofs)

# manifest_cmdline - What the kernel needs, and then the recipe's words
manifest_cmdline()
{
	local words

	mapfile -t words < <(kernel_words)
	words+=("${recipe_cmdline[@]}")
	echo "${words[*]}"
}

# manifest_digest DIR - sha256 over the parts' own digests and the command line
manifest_digest()
{
	local dir=$1

	{
		(cd "$dir" && cut -d ' ' -f 1 digests)
		manifest_cmdline
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

# manifest_of FIELD FILE... - One field of all packages, by their names
manifest_of()
{
	local field=$1

	shift
	cat "$@" | jq -s --arg field "$field" \
		'sort_by(.name) | map({(.name): .[$field]}) | add // {}'
}

# manifest_pool - The recipe's defaults of a pool, as an object of strings
manifest_pool()
{
	root_lines "${recipe_pool[@]}" |
		jq -R 'split("=") | {(.[0]): .[1]}' | jq -s 'add // {}'
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
	local packages=("$entry/packages" "$kernel_entry/package")

	jq -n --arg name "$name" \
		--arg digest "sha256:$(manifest_digest "$dir")" \
		--arg built_at "$(date --utc +%Y-%m-%dT%H:%M:%SZ)" \
		--arg suite "${recipe_suite[0]}" \
		--arg kernel "$(cat "$kernel_entry/version")" \
		--arg python "$(cat "$entry/python")" \
		--arg cmdline "$(manifest_cmdline)" \
		--argjson preimport "$(root_lines "${recipe_preimport[@]}" |
			jq -R . | jq -s .)" \
		--argjson environment "$(root_lines "${recipe_environment[@]}" |
			jq -R . | jq -s .)" \
		--argjson pool "$(manifest_pool)" \
		--argjson size "$(cd "$dir" && stat -c %s "${manifest_parts[@]}" |
			jq -s add)" \
		--argjson files "$(manifest_files "$dir")" \
		--slurpfile packages <(manifest_of version "${packages[@]}") \
		--slurpfile licences <(manifest_of licence "${packages[@]}") \
		--argjson builders "$(manifest_builders)" \
		'{name: $name, digest: $digest, built_at: $built_at,
		  suite: $suite, kernel: $kernel, python: $python,
		  cmdline: $cmdline, size: $size, pool: $pool,
		  preimport: $preimport, environment: $environment,
		  files: $files, builders: $builders,
		  packages: $packages[0], licences: $licences[0]}' \
		>"$dir/manifest.json"
}
