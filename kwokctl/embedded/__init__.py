"""What the embedded processes, controller and kubelet server, share: flags, log, which nodes are theirs."""
