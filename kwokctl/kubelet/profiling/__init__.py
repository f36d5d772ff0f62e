"""Where this process spends its CPU time, on request: `/debug/pprof/profile`, as kubelets have it."""
