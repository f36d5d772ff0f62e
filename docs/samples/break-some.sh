# Runs beside the load of the sample: two GPUs are lost for 30 s, and later a rack is not reached for 25 s.
kwokctl fault inject xid-79 --id lost-gpus --count 2 --seed 3 --at 40s --for 30s
kwokctl fault inject not-ready --id lost-rack --where 'rack == "dgx-h100-rack-0003"' --at 90s --for 25s
