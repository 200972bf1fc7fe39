# shellcheck shell=bash
#
# Debian's packages, fetched into the cache and used from there. The lists of a
# suite are those of the day on which they were last fetched, so two builds from
# one cache see the same packages, with or without a network.

# apt_mirrors SUITE - apt sources of a Debian suite, from where the host's own
# come from.
apt_mirrors()
{
	local suite=$1 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	while read -r label uri; do
		case $label in
		Debian)
			echo "deb [signed-by=$keyring] $uri $suite main"
			echo "deb [signed-by=$keyring] $uri $suite-updates main"
			;;
		Debian-Security)
			echo "deb [signed-by=$keyring] $uri $suite-security main"
			;;
		esac
	done < <(apt-get indextargets --format '$(LABEL) $(REPO_URI)' \
		'Created-By: Packages' 'Component: main' 'Origin: Debian' |
		sort -u)
}

# apt_own COMMAND... - An apt program with the cache's lists instead of the host's
apt_own()
{
	local program=$1

	shift
	"$program" -q -o "Dir::State=$apt_dir" -o Dir::State::status=/dev/null \
		-o "Dir::Cache=$apt_dir" -o "Dir::Etc::sourcelist=$apt_dir/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Architecture=amd64 -o APT::Sandbox::User=root "$@"
}

# apt_prepare SUITE - Have the suite's lists, of today if there is a network
#
# apt_dir is set to the suite's part of the cache: sources.list, lists/ and
# archives/, the packages that were fetched.
apt_prepare()
{
	local suite=$1 today

	apt_dir=$cache/apt/$suite
	today=$(date --utc +%Y%m%d)
	if [ -e "$apt_dir/day" ] &&
		{ [ -n "$offline" ] || [ "$(cat "$apt_dir/day")" = "$today" ]; }; then
		return
	fi
	[ -z "$offline" ] || die "the cache has no packages of $suite yet:" \
		"build once without --offline"
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial"
	apt_mirrors "$suite" >"$apt_dir/sources.list"
	if ! grep -q "$suite main" "$apt_dir/sources.list"; then
		die "apt names no Debian mirror: add one to" \
			"/etc/apt/sources.list and run apt-get update"
	fi
	apt_own apt-get -o APT::Update::Error-Mode=any update ||
		die "the lists of $suite cannot be fetched: is there a network?"
	echo "$today" >"$apt_dir/day"
}

# apt_version PACKAGE - The version that the lists have; empty if there is none
apt_version()
{
	apt_own apt-cache show --no-all-versions "$1" 2>/dev/null |
		sed -n 's/^Version: //p' | head -n 1 || true
}

# apt_fetch PACKAGE TREE - Unpack a package into a directory, uninstalled
apt_fetch()
{
	local package=$1 tree=$2 version file

	version=$(apt_version "$package")
	[ -n "$version" ] || die "Debian has no package '$package'"
	mkdir -p "$tree"
	file=$(cd "$apt_dir/archives" && ls "${package}_${version//:/%3a}"_*.deb \
		2>/dev/null) || {
		[ -z "$offline" ] || die "$package is not in the cache"
		(cd "$apt_dir/archives" && apt_own apt-get download "$package")
		file=$(cd "$apt_dir/archives" &&
			ls "${package}_${version//:/%3a}"_*.deb)
	}
	dpkg-deb --extract "$apt_dir/archives/$file" "$tree"
}
