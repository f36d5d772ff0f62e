"""Documents that are custom resources: watches them, reads them, and reports what is wrong with them."""
