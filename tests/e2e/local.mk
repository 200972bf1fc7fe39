# End-to-end tests: pytest drives the real daemon. They are run by contrib/check.

EXTRA_DIST += \
	%reldir%/conftest.py \
	%reldir%/cupola.py \
	%reldir%/invariants.py \
	%reldir%/test_agents.py \
	%reldir%/test_analyst.py \
	%reldir%/test_artifact_faults.py \
	%reldir%/test_artifacts.py \
	%reldir%/test_boot_faults.py \
	%reldir%/test_clients.py \
	%reldir%/test_cupolactl.py \
	%reldir%/test_custom_image.py \
	%reldir%/test_examples.py \
	%reldir%/test_execution_api.py \
	%reldir%/test_execution_faults.py \
	%reldir%/test_execution_output.py \
	%reldir%/test_executions.py \
	%reldir%/test_exhaustion.py \
	%reldir%/test_input.py \
	%reldir%/test_isolation.py \
	%reldir%/test_lifecycle_faults.py \
	%reldir%/test_neighbours.py \
	%reldir%/test_python_full.py \
	%reldir%/test_python_image.py \
	%reldir%/test_responses.py \
	%reldir%/test_responses_ends.py \
	%reldir%/test_start.py \
	%reldir%/test_survival.py \
	%reldir%/test_tenants.py \
	%reldir%/test_troubleshooting.py \
	%reldir%/test_walkthrough.py
