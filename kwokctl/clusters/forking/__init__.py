"""Creates clusters that begin with what another one holds."""
