EXTRA_DIST += \
	%reldir%/check \
	%reldir%/count-tests \
	%reldir%/cupolad.conf \
	%reldir%/install-deps \
	%reldir%/quickstart \
	%reldir%/say.sh

# For the operator to give to Grafana and Prometheus.
monitoringdir = $(datadir)/cupola/monitoring
dist_monitoring_DATA = \
	%reldir%/monitoring/grafana-dashboard.json \
	%reldir%/monitoring/prometheus-rules.yml \
	%reldir%/monitoring/prometheus.yml

# Below the prefix, also where that is not /usr: systemd looks into
# /usr/local/lib by itself.
systemdunitdir = $(prefix)/lib/systemd/system
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
modulesloaddir = $(prefix)/lib/modules-load.d

cupola_units = %reldir%/systemd/cupola-vmd.service %reldir%/systemd/cupolad.service
dist_systemdunit_DATA = \
	%reldir%/systemd/cupola-sweep.service \
	%reldir%/systemd/cupola-sweep.timer \
	%reldir%/systemd/cupola-vmd.socket \
	%reldir%/systemd/cupolad.socket
nodist_systemdunit_DATA = $(cupola_units)
dist_sysusers_DATA = %reldir%/systemd/sysusers.d/cupola.conf
dist_tmpfiles_DATA = %reldir%/systemd/tmpfiles.d/cupola.conf
dist_modulesload_DATA = %reldir%/systemd/modules-load.d/cupola.conf
EXTRA_DIST += %reldir%/systemd/cupola-vmd.service.in \
	%reldir%/systemd/cupolad.service.in
CLEANFILES += $(cupola_units)

%reldir%/systemd/%.service: %reldir%/systemd/%.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's,@sbindir\@,$(sbindir),' \
		-e 's,@pkglibexecdir\@,$(pkglibexecdir),' \
		-e 's,@sysconfdir\@,$(sysconfdir),' \
		-e 's,@localstatedir\@,$(localstatedir),' $< >$@.tmp && mv $@.tmp $@
