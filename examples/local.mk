EXTRA_DIST += \
	%reldir%/agent.mjs \
	%reldir%/agent.py \
	%reldir%/hosted-agent.mjs \
	%reldir%/quarterly.py \
	%reldir%/quarterly_results.csv
