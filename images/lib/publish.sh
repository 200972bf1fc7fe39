# shellcheck shell=bash
#
# Publishing: an image is a directory NAME@DIGEST that never changes, and NAME
# is a link to the newest. Whoever opens NAME gets all files of one image, and
# VMs that run on an older one keep it, until "cupolactl images prune".

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
	local staging=$1 name=$2 dest=$3 digest target

	digest=$(jq -r .digest "$staging/manifest.json")
	digest=${digest#sha256:}
	target=$name@${digest:0:12}

	chmod 0444 "$staging"/*
	if [ ! -d "$dest/$target" ]; then
		mv -T "$staging" "$dest/$target"
	fi
	sync -f "$dest/$target"
	ln -s "$target" "$dest/.$name.$$"
	mv -T "$dest/.$name.$$" "$dest/$name"
}
