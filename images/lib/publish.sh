# shellcheck shell=bash
#
# Publishing: an image is a directory NAME@DIGEST that never changes, and NAME
# is a link to the newest. Whoever opens NAME gets all files of one image, and
# VMs that run on an older one keep it.

# An image that has been replaced stays this long: longer than any VM lives.
publish_keep_minutes=$((25 * 60))

# publish_is_current STAGING NAME DEST - Is this the image that NAME is now?
publish_is_current()
{
	local manifest=$3/$2/manifest.json

	[ -f "$manifest" ] &&
		[ "$(jq -r .digest "$manifest")" = \
			"$(jq -r .digest "$1/manifest.json")" ]
}

# publish STAGING NAME DEST
publish()
{
	local staging=$1 name=$2 dest=$3 digest target old

	digest=$(jq -r .digest "$staging/manifest.json")
	digest=${digest#sha256:}
	target=$name@${digest:0:12}
	old=$(readlink "$dest/$name" || true)

	chmod 0444 "$staging"/*
	if [ ! -d "$dest/$target" ]; then
		mv -T "$staging" "$dest/$target"
	fi
	sync -f "$dest/$target"
	ln -s "$target" "$dest/.$name.$$"
	mv -T "$dest/.$name.$$" "$dest/$name"

	if [ -n "$old" ] && [ "$old" != "$target" ]; then
		touch "$dest/$old"	# from now on it is old
	fi
	publish_prune "$name" "$dest"
}

publish_prune()
{
	local name=$1 dest=$2 current

	current=$(readlink "$dest/$name")
	find "$dest" -mindepth 1 -maxdepth 1 -type d -name "$name@*" \
		! -name "$current" -mmin +"$publish_keep_minutes" \
		-exec rm -rf {} +
}
