"""The CPU profile of this process on request: `/debug/pprof/profile`, as kubelets serve it."""
