# shellcheck shell=bash
#
# Recipes: what an image is made of. A recipe is lines of "keyword value...";
# a keyword that is given again adds to its values. See doc/images.md.

recipe_keywords='suite packages kernel compression exclude preimport cmdline'
recipe_suite='' recipe_packages='' recipe_kernel='' recipe_compression=''
recipe_exclude='' recipe_preimport='' recipe_cmdline=''

# recipe_read FILE - Fill the variables recipe_KEYWORD, values between spaces.
recipe_read()
{
	local file=$1 number=0 keyword value

	for keyword in $recipe_keywords; do
		printf -v "recipe_$keyword" '%s' ''
	done
	while read -r keyword value; do
		number=$((number + 1))
		case $keyword in
		'' | '#'*)
			continue
			;;
		esac
		if [[ " $recipe_keywords " != *" $keyword "* ]]; then
			die "$file:$number: '$keyword' is no keyword;" \
				"these are: $recipe_keywords"
		fi
		local -n values=recipe_$keyword
		values="${values:+$values }$value"
	done <"$file"
	recipe_check "$file"
}

recipe_check()
{
	local file=$1 keyword

	for keyword in suite packages kernel compression; do
		local -n needed=recipe_$keyword
		if [ -z "$needed" ]; then
			die "$file: the keyword '$keyword' is missing"
		fi
	done
}

# recipe_names - The images that there are recipes for.
recipe_names()
{
	local file

	for file in "$images_dir"/*/recipe; do
		basename "$(dirname "$file")"
	done
}

# recipe_key FILE - Names all that a root file system depends on but the day.
#
# The preimport list and the kernel's command line are left out: the initrd and
# the manifest carry them, and those are made anew each time.
recipe_key()
{
	{
		recipe_read "$1"
		echo "$recipe_suite $recipe_packages $recipe_kernel"
		echo "$recipe_compression $recipe_exclude"
		cat "$images_dir/lib/customize" "$images_dir/lib/root.sh" \
			"$images_dir/lib/kernel.sh"
	} | sha256sum | cut -c 1-12
}
