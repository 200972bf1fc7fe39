# shellcheck shell=bash
#
# A kernel of our own, from Debian's source with Debian's patches: what
# images/kernel.config asks for and nothing else, and no modules. It takes about
# seven minutes on two quiet cores, once per version of the source.

# kernel_own_tools - Before minutes are spent on it
kernel_own_tools()
{
	local tool

	for tool in gcc make flex bison bc perl; do
		command -v "$tool" >/dev/null ||
			die "$tool is missing: run contrib/install-deps --build"
	done
	[ -e /usr/include/libelf.h ] ||
		die "libelf-dev is missing: run contrib/install-deps --build"
	need_space "$cache" 4000
}

# kernel_own_config SOURCE - .config of the fragment; fails where Linux differs
#
# "=n" in the fragment is Linux's "is not set", and a name that this Linux does
# not know is as good as that.
kernel_own_config()
{
	local source=$1 line name wrong=''

	sed 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/' \
		"$images_dir/kernel.config" >"$source/.fragment"
	make -s -C "$source" KCONFIG_ALLCONFIG=.fragment allnoconfig
	while read -r line; do
		name=${line%%=*}
		if [ "${line#*=}" = n ]; then
			! grep -q "^$name=" "$source/.config" || wrong+=" $line"
		else
			grep -qxF "$line" "$source/.config" || wrong+=" $line"
		fi
	done < <(grep '^CONFIG_' "$images_dir/kernel.config")
	[ -z "$wrong" ] ||
		die "this Linux did not take these lines of kernel.config:$wrong"
}

# kernel_own WORK ENTRY
kernel_own()
{
	local work=$1 entry=$2 package source

	kernel_own_tools
	package=$(kernel_depends "${kernel_package[own]}" linux-source-)
	apt_fetch "${package:=${kernel_package[own]}}" "$work/kernel"
	mkdir "$work/linux"
	tar -xf "$work"/kernel/usr/src/linux-source-*.tar.xz -C "$work/linux" \
		--strip-components=1
	rm -rf "$work/kernel"
	source=$work/linux
	kernel_own_config "$source"
	KBUILD_BUILD_TIMESTAMP=@$root_epoch KBUILD_BUILD_VERSION=1 \
		KBUILD_BUILD_USER=cupola KBUILD_BUILD_HOST=cupola \
		nice make -s -C "$source" -j "$(nproc)" vmlinux
	strip --strip-all --remove-section=.note.gnu.build-id \
		-o "$entry/vmlinux" "$source/vmlinux"
	kernel_check "$entry/vmlinux"
	make -s -C "$source" kernelrelease >"$entry/version"
	cp "$source/.config" "$entry/config"
	kernel_note "$package" "$entry"
	rm -rf "$source"
}
