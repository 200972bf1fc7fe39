EXTRA_DIST += \
	%reldir%/quarterly.py \
	%reldir%/quarterly_results.csv
