"""Tables: from files to rows that a model is given, and from results to files.

sources, kinds → reading: text, arrays → table
table → columns, contents, labels → rows
results → beside, formulas → writing
"""
