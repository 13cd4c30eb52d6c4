"""The displays, a file for each; `vicinal.report` has all of them."""
